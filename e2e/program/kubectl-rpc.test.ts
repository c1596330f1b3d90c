// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { waitUntil } from '../processes/eventually.ts'
import { createWorkspace } from './workspace.ts'

const plugin = fileURLToPath(new URL('../../bin/kubectl-rpc.mjs', import.meta.url))

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

test('a terminated kubectl rpc leaves no kubectl proxy behind', async () => {
  await using workspace = await createWorkspace()
  const { directory } = workspace
  const pidFile = join(directory, 'pid')
  const script = `#!/bin/sh
if [ "$1" = get ]; then echo 'ns/pod '; exit; fi
echo $$ > '${pidFile}'
echo 'Starting to serve on 127.0.0.1:1'
exec sleep 60
`
  await writeFile(join(directory, 'kubectl'), script)
  await chmod(join(directory, 'kubectl'), 0o755)
  const env = { ...process.env, PATH: `${directory}:${process.env['PATH']}` }
  const child = spawn(process.execPath, ['--', plugin, 'top', '--json'], { env })
  const pid = async () => Number(await readFile(pidFile, 'utf8').catch(() => ''))
  await waitUntil('the proxy runs', 60_000, undefined, async () => (await pid()) > 0)
  const proxy = await pid()
  expect(isAlive(proxy)).toBe(true)
  child.kill('SIGTERM')
  await once(child, 'exit')
  await waitUntil('the proxy ends', 60_000, undefined, async () => !isAlive(proxy))
})
