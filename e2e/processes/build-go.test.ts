// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildGo } from './build-go.ts'

/** Runs a build with a script in place of Go, and returns its output. */
async function build(folder: string, script: string) {
  await writeFile(join(folder, 'go'), `#!/bin/sh\ncd ${folder}\n${script}\n`, { mode: 0o755 })
  const said: string[] = []
  const env = { PATH: `${folder}:${process.env['PATH']}` }
  const say = (line: string) => void said.push(line)
  return { said, done: buildGo({ name: 'etcd', args: ['x'], env, say, progressMs: 20 }) }
}

test('a build reports its target, its progress and its duration', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'build-go-test-'))
  const { said, done } = await build(folder.path, 'until [ -e over ]; do sleep 0.05; done')
  await expect.poll(() => said.length).toBeGreaterThan(3)
  await writeFile(join(folder.path, 'over'), '')
  await done
  const [first, second] = said
  expect([first, second]).toEqual([
    'building etcd ...',
    expect.stringMatching(/^building etcd: \d+ s so far$/),
  ])
  expect(said.at(-1)).toMatch(/^etcd built in \d+ s$/)
})

test('a failed build names its target', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'build-go-test-'))
  const { done } = await build(folder.path, 'exit 3')
  await expect(done).rejects.toThrow('go failed to build etcd (exit code 3); its output is above')
})

test('a missing Go is an error', async () => {
  const env = { PATH: '/nowhere' }
  const built = buildGo({ name: 'etcd', args: [], env, say: () => {} })
  await expect(built).rejects.toMatchObject({ code: 'ENOENT' })
})
