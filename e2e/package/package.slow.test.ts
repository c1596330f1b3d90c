// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import packageJson from '../../package.json' with { type: 'json' }

/*
 * The npm package as a user gets it: installed in an empty home, started from the machine's PATH.
 */

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const home = mkdtempSync(join(tmpdir(), 'rpc-router-home-'))
const tarball = join(root, `dist/rpc-router-${packageJson.version}.tgz`)

const source = 'https://git.example.com/rpc-router'

/** The PATH without the Node of this checkout. */
const path = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

function inHome(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return run(command, args, { cwd: home, env: { ...process.env, HOME: home, PATH: path, ...env } })
}

beforeAll(async () => {
  await run('make', ['krew', `SOURCE=${source}`], { cwd: root })
  // The registry is a setting of the machine, which the empty home lacks.
  const { stdout } = await run('npm', ['config', 'get', 'registry'], { cwd: root })
  const args = ['install', '--global', '--no-audit', '--no-fund', tarball]
  await inHome('npm', args, { npm_config_prefix: home, npm_config_registry: stdout.trim() })
}, 400_000)

afterAll(() => {
  rmSync(home, { recursive: true })
})

test('the package depends only on Node', async () => {
  const packages = await readdir(join(home, 'lib/node_modules/rpc-router/node_modules'))
  const visible = packages.filter((name) => !name.startsWith('.'))
  expect(visible).toHaveLength(1)
  expect(visible[0]).toMatch(/^node-/)
})

test.each(['router', 'rpc-operator'])('%s starts', async (program) => {
  const { stdout } = await inHome(join(home, 'bin', program), ['version'])
  expect(stdout).toBe(`${packageJson.version}\n`)
})

test('the router has its chain specs, and reads an env file', async () => {
  const config = join(home, 'config.yml')
  await writeFile(
    config,
    `endpoints: [{ network-address: 127.0.0.1:3360, chain-id: ETH1, api-interface: jsonrpc }]
direct-rpc:
  - { name: own, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{ url: 'http://\${HOST}:8545' }] }
skip-websocket-verification: true
`,
  )
  await writeFile(join(home, 'keys.env'), 'HOST=127.0.0.1\n')
  const args = ['validate', config, '--env-file', 'keys.env']
  const { stdout } = await inHome(join(home, 'bin/router'), args)
  expect(stdout).toContain('is valid: 1 listener, 1 upstream')
})

test('a spec of nine lines extends a bundled one', async () => {
  await writeFile(
    join(home, 'devnet.yml'),
    `id: DEVNET
extends: ETH1
name: Our development network
block-time: 2s
allowed-lag: 5
interfaces:
  jsonrpc:
    verifications:
      chain-id: { expected: '0x7a69' }
`,
  )
  const use = 'chain-id: DEVNET, api-interface: jsonrpc'
  await writeFile(
    join(home, 'devnet-config.yml'),
    `endpoints: [{ network-address: 127.0.0.1:3360, ${use} }]
direct-rpc: [{ name: own, ${use}, node-urls: [{ url: 'http://127.0.0.1:8545' }] }]
skip-websocket-verification: true
`,
  )
  const args = ['validate', 'devnet-config.yml', '--use-static-spec', 'devnet.yml']
  const { stdout } = await inHome(join(home, 'bin/router'), args)
  expect(stdout).toContain('is valid: 1 listener, 1 upstream')
})

test('the operator prints its rights', async () => {
  const { stdout } = await inHome(join(home, 'bin/rpc-operator'), ['rbac'])
  expect(stdout).toContain('kind: ClusterRole')
})

test('the kubectl plugin prints its help', async () => {
  const { stdout } = await inHome(join(home, 'bin/kubectl-rpc'), [])
  expect(stdout).toContain('kubectl rpc explain [guid]')
})

test('the krew manifest fits the package', async () => {
  const { spec, metadata } = parse(await readFile(join(root, 'dist/rpc.yaml'), 'utf8'))
  const [{ uri, sha256, bin }] = spec.platforms
  expect(spec.version).toBe(`v${packageJson.version}`)
  expect(uri).toBe(`${source}/releases/download/${spec.version}/${basename(tarball)}`)
  expect(sha256).toBe(
    createHash('sha256')
      .update(await readFile(tarball))
      .digest('hex'),
  )
  // kubectl finds a plugin by the name of its program, and krew by that of its manifest.
  expect(basename(bin as string)).toBe(`kubectl-${metadata.name}`)
  const { stdout } = await run('tar', ['-tzf', tarball])
  expect(stdout.split('\n')).toContain(`package/${bin}`)
  // krew unpacks the package, and links its program.
  await run('tar', ['-xzf', tarball, '-C', home])
  const link = join(home, 'kubectl-rpc')
  await symlink(join(home, 'package', bin), link)
  const plugin = await inHome(link, [], { PATH: `${dirname(process.execPath)}:${path}` })
  expect(plugin.stdout).toContain('kubectl rpc explain [guid]')
})

test('each program has an SBOM with hashes and licences', async () => {
  await run('make', ['sbom'], { cwd: root })
  for (const [image, direct] of [
    ['rpc-router', ['fastify', 'undici', 'ws', 'yaml', 'zod', 'node']],
    ['rpc-router-cache', ['@grpc/grpc-js', 'zod', 'node']],
    ['rpc-router-operator', ['@kubernetes/client-node', 'undici', 'zod', 'node']],
  ] as const) {
    const { bomFormat, metadata, components } = JSON.parse(
      await readFile(join(root, `dist/${image}.cdx.json`), 'utf8'),
    )
    expect(bomFormat).toBe('CycloneDX')
    expect(metadata.component).toMatchObject({ name: image, version: packageJson.version })
    const names = components.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining([...direct]))
    expect(names).not.toContain('vitest')
    for (const { type, hashes, licenses } of components)
      if (type === 'library') {
        expect(hashes).toEqual([
          { alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) },
        ])
        expect(licenses).toHaveLength(1)
      }
  }
})
