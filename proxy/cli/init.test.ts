// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkConfig } from '../router/checked-config.ts'
import { main } from './main.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'router-init-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function init(line: string) {
  const written = { stdout: '', stderr: '' }
  const args = line.split(' ').filter((word) => word !== '')
  const code = await main(['init', ...args], {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    environment: {},
  })
  return { code, ...written }
}

/** Parses a text as a config. Returns the config or its problems. */
async function parsed(text: string) {
  const configPath = join(folder, 'parsed.yml')
  await writeFile(configPath, text)
  const urls = { NODE_URL: 'https://c.example/v2', GRPC_URL: 'grpcs://d.example:443' }
  const environment = { KEY: 'a-key-of-mine', ...urls }
  const request = { configPath, flags: {}, environment }
  const { config, problems } = await checkConfig(request)
  expect(problems).toEqual([])
  return config?.upstreams.map(({ name, chainId, apiInterface, nodeUrls }) => [
    ...[name, chainId, apiInterface],
    ...nodeUrls.map(({ scheme, url }) => `${scheme} ${url.toString()}`),
  ])
}

test.each<[name: string, line: string, upstreams: readonly (readonly string[])[]]>([
  [
    'a node without a WebSocket',
    '--chain eth --url http://127.0.0.1:1',
    [['node-1', 'ETH1', 'jsonrpc', 'http http://127.0.0.1:1']],
  ],
  [
    'a WebSocket joins the upstream of its host, and a key stays a placeholder',
    '--chain ETH1 --url wss://eth.a.example/ws --url https://b.example/${KEY} --url https://eth.a.example/v2/${KEY}',
    [
      ['b-1', 'ETH1', 'jsonrpc', 'https https://b.example'],
      ['a-2', 'ETH1', 'jsonrpc', 'https https://eth.a.example', 'wss wss://eth.a.example'],
    ],
  ],
  [
    'one WebSocket joins, another of the same host is an upstream',
    '--chain ETH1 --url wss://a.example/1 --url wss://a.example/2 --url https://a.example',
    [
      ['a-1', 'ETH1', 'jsonrpc', 'https https://a.example', 'wss wss://a.example'],
      ['a-2', 'ETH1', 'jsonrpc', 'wss wss://a.example'],
    ],
  ],
  [
    'a URL that is a placeholder as a whole',
    '--chain ETH1 --url ${NODE_URL}',
    [['node-1', 'ETH1', 'jsonrpc', 'https ${NODE_URL}']],
  ],
  [
    'the same over gRPC',
    '--chain HUBCHAIN --interface grpc --url ${GRPC_URL}',
    [['node-1', 'HUBCHAIN', 'grpc', 'grpcs ${GRPC_URL}']],
  ],
  [
    'gRPC by its URL',
    '--chain HUBCHAIN --url grpcs://hub.example.com:443',
    [['example-1', 'HUBCHAIN', 'grpc', 'grpcs grpcs://hub.example.com:443']],
  ],
  [
    'another interface by its name',
    '--chain HUBCHAIN --interface rest --url http://hub.example.com',
    [['example-1', 'HUBCHAIN', 'rest', 'http http://hub.example.com']],
  ],
  [
    'a chain without JSON-RPC',
    '--chain MOVECHAIN --url https://[::1]:8080/v1',
    [['node-1', 'MOVECHAIN', 'rest', 'https https://[::1]:8080']],
  ],
])('%s: what is written can be served', async (_, line, upstreams) => {
  const { code, stdout, stderr } = await init(line)
  expect([code, stderr]).toEqual([0, 'Next: router doctor FILE, then router FILE\n'])
  expect(await parsed(stdout)).toEqual(upstreams)
})

test.each([
  [
    '',
    'router: error: nothing was written: the URL of a node is missing. Such as router init --url',
  ],
  ['--chain ETH1', ': nothing was written'],
  ['--chain ETX1 --url http://a', '--chain: No chain spec has the id "ETX1". Did'],
  ['--chain ETH1 --url a', '--url: the value is a URL without a scheme'],
  ['--chain ETH1 --interface grpc --url http://a', 'ETH1 is not served through grpc'],
  ['--chain ETH1 --url https://a/YOUR_API_KEY', '--url: the value holds a placeholder'],
  ['--url http://127.0.0.1:1', '--chain: the chain is missing, and http://127.0.0.1:1 does not'],
  ['--url http://127.0.0.1:1/${KEY}', '--url: the variable KEY is not set. Set it'],
])('router init %s writes nothing', async (line, words) => {
  const { code, stdout, stderr } = await init(line)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(words)
  expect(stderr.trim().split('\n')).toHaveLength(1)
})

test('only the owner can read the file, and no existing file is overwritten', async () => {
  const path = join(folder, 'first.yml')
  const line = `${path} --chain ETH1 --url http://a.example`
  expect(await init(line)).toMatchObject({ code: 0, stdout: '' })
  const text = await readFile(path, 'utf8')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await parsed(text)
  const { code, stderr } = await init(line.replace('a.example', 'b.example'))
  expect([code, stderr]).toEqual([
    1,
    `${path}: error: it exists, and is left as it is. Name another file, or remove it.\n`,
  ])
  expect(await readFile(path, 'utf8')).toBe(text)
})

test('a file for the keys is written beside the config, and Git ignores it', async () => {
  const path = join(folder, 'keyed', 'config.yml')
  await mkdir(join(folder, 'keyed'))
  await writeFile(join(folder, 'keyed', '.gitignore'), 'dist')
  const keys = join(folder, 'keyed', 'keys.env')
  const line = `${path} --chain ETH1 --url https://a.example/\${KEY} --url https://b.example/\${KEY}`
  const { code, stderr } = await init(line)
  const next = `Next: write the keys into ${keys}, then router doctor ${path}, then router ${path}\n`
  expect([code, stderr]).toEqual([0, next])
  expect(await readFile(path, 'utf8')).toContain(`\nenv-file: ${keys}\n`)
  expect(await readFile(keys, 'utf8')).toBe('KEY=\n')
  expect((await stat(keys)).mode & 0o777).toBe(0o600)
  expect(await readFile(join(folder, 'keyed', '.gitignore'), 'utf8')).toBe('dist\nkeys.env\n')
  // Another config of the folder leaves the keys as they are.
  await writeFile(keys, 'KEY=a-key-of-mine\n')
  expect(await init(line.replace('config.yml', 'other.yml'))).toMatchObject({ code: 0 })
  expect(await readFile(keys, 'utf8')).toBe('KEY=a-key-of-mine\n')
  expect(await readFile(join(folder, 'keyed', '.gitignore'), 'utf8')).toBe('dist\nkeys.env\n')
})

test('a missing folder is reported as a folder', async () => {
  const path = join(folder, 'nowhere/first.yml')
  const { code, stderr } = await init(`${path} --chain ETH1 --url http://a.example`)
  expect([code, stderr]).toEqual([1, `${path}: error: its folder is missing.\n`])
})
