// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { eventually } from '../processes/eventually.ts'

/*
 * The images of `make e2e` as a strict cluster runs them: no root, nothing writable, no capability.
 */

const run = promisify(execFile)
const docker = (...args: string[]) => run('docker', args)
const image = (name: string) =>
  `${process.env['E2E_IMAGES'] ?? 'localhost/'}rpc-router${name}:${packageJson.version}`
const strict = [
  ...['--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
  ...['--memory', '256m', '--network', 'none'],
]
let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'))
  await writeFile(
    join(folder, 'config.yml'),
    `endpoints: [{ network-address: 127.0.0.1:3360, chain-id: ETH1, api-interface: jsonrpc }]
direct-rpc:
  - { name: own, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{ url: 'http://127.0.0.1:8545' }] }
skip-websocket-verification: true
metrics-listen-address: 127.0.0.1:7779
`,
    { mode: 0o644 },
  )
  await run('chmod', ['755', folder])
})

afterAll(() => rm(folder, { recursive: true }))

describe.each([
  ['', 'router'],
  ['-operator', 'rpc-operator'],
  ['-cache', 'router'],
])('the image rpc-router%s', (name) => {
  test('has labels and a numeric user', async () => {
    const { stdout } = await docker('inspect', image(name))
    const [{ Config }] = JSON.parse(stdout)
    expect(Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/)
    expect(Config.Labels).toMatchObject({
      'org.opencontainers.image.title': `rpc-router${name}`,
      'org.opencontainers.image.version': packageJson.version,
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{12}$/),
      'org.opencontainers.image.source': expect.any(String),
    })
  })

  test.skipIf(process.env['BASE_IMAGE'])('is small, and has no shell', async () => {
    const { stdout } = await docker('inspect', image(name), '--format', '{{.Size}}')
    expect(Number(stdout)).toBeLessThan(150_000_000)
    const started = docker(
      'run',
      '--rm',
      '--entrypoint',
      '/bin/sh',
      ...strict,
      image(name),
      '-c',
      '',
    )
    await expect(started).rejects.toThrow(/no such file/)
  })
})

test('the operator starts, and prints its RBAC rules', async () => {
  const { stdout } = await docker('run', '--rm', ...strict, image('-operator'), 'rbac')
  expect(stdout).toContain('kind: ClusterRole')
})

test.each([
  ['', ['/etc/router/config.yml'], '"msg":'],
  ['-cache', [], '20100'],
])('rpc-router%s runs under a strict profile, and ends at SIGTERM', async (name, args, said) => {
  const mount = ['--volume', `${folder}:/etc/router:ro`]
  const { stdout } = await docker('run', '--detach', ...strict, ...mount, image(name), ...args)
  const id = stdout.trim()
  onTestFinished(() => void docker('rm', '--force', id))
  const logs = async () => {
    const { stdout: out, stderr } = await docker('logs', id)
    return out + stderr
  }
  await eventually(async () => expect(await logs()).toContain(said), 20_000)
  const startMs = performance.now()
  await docker('stop', '--time', '30', id)
  expect(performance.now() - startMs).toBeLessThan(28_000)
  const { stdout: code } = await docker('inspect', '--format', '{{.State.ExitCode}}', id)
  expect([code.trim(), await logs()]).toEqual(['0', expect.any(String)])
})
