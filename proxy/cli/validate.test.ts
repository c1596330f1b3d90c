// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runSchema, runValidate, type ValidateArguments } from './validate.ts'

let folder = ''
let configPath = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'router-validate-'))
  configPath = join(folder, 'router.yml')
})

afterAll(() => rm(folder, { recursive: true }))

const right = `endpoints:
  - {chain-id: BTC, api-interface: jsonrpc}
direct-rpc:
  - {name: one, chain-id: BTC, api-interface: jsonrpc, node-urls: [{url: "http://x/\${KEY}"}]}
`

const environment = { KEY: 'canary-5f3c9e' }
async function validate(
  text: string,
  options: Partial<ValidateArguments> = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  await writeFile(configPath, text)
  const written = { stdout: '', stderr: '' }
  const io = {
    stdout: { write: (chunk: string) => (written.stdout += chunk) },
    stderr: { write: (chunk: string) => (written.stderr += chunk) },
    environment,
  }
  const code = await runValidate({ configPath, flags: {}, output: 'text', ...options }, io)
  return { code, ...written }
}

test('a valid file: one line on stdout, exit code 0', async () => {
  expect(await validate(right)).toEqual({
    code: 0,
    stdout: `${configPath} is valid: 1 listener, 1 upstream\n`,
    stderr: '',
  })
})

test('an invalid file: a line per problem on stderr, exit code 2', async () => {
  const text = `${right.replace('api-interface: jsonrpc', 'api-interface: jsonrcp')}log-level: loud\n`
  expect(await validate(text, { flags: { strategy: ['fast'] } })).toEqual({
    code: 2,
    stdout: '',
    stderr: [
      'router: error: --strategy: "fast" is not one of the allowed values. Allowed: balanced, latency, sync-freshness, availability, round-robin.',
      `${configPath}:2:36: error: endpoints[0].api-interface: "jsonrcp" is not one of the allowed values. Did you mean jsonrpc? Allowed: jsonrpc, rest, tendermintrpc, grpc.`,
      `${configPath}:5:12: error: log-level: "loud" is not one of the allowed values. Allowed: debug, info, warn, error.`,
      '',
    ].join('\n'),
  })
})

test('a warning alone leaves the file valid', async () => {
  const unused = right.split('\n')[3]?.replace('BTC', 'BTCT')
  const { code, stdout, stderr } = await validate(`${right}${unused}\n`)
  expect(code).toBe(0)
  expect(stdout).toContain('is valid')
  expect(stderr).toContain(':5:5: warning: direct-rpc[1]: ')
})

test('problems that need chain specs appear in line order, beside other problems', async () => {
  const { code, stderr } = await validate(`stratgy: latency\n${right.replace('BTC', 'BTCX')}`)
  expect(code).toBe(2)
  expect(stderr).toMatch(
    /:1:1: error: stratgy: unknown key .*\n.*:3:16: error: endpoints\[0\]\.chain-id: No chain spec has the id "BTCX"\. .*\n/,
  )
})

test('JSON output is one document on stdout', async () => {
  const { code, stdout, stderr } = await validate('endpoint: []\n', { output: 'json' })
  expect([code, stderr]).toEqual([2, ''])
  expect(JSON.parse(stdout)).toMatchObject({
    version: 1,
    file: configPath,
    valid: false,
    problems: [
      { severity: 'error', path: '', line: null, column: null },
      { path: 'endpoint', line: 1, column: 1, hint: 'Did you mean "endpoints"?' },
    ],
  })
  expect(JSON.parse((await validate(right, { output: 'json' })).stdout)).toMatchObject({
    valid: true,
    problems: [],
  })
})

test('a missing file is reported like any problem', async () => {
  const { code, stderr } = await validate(right, { configPath: 'nowhere.yml' })
  expect(code).toBe(2)
  expect(stderr).toBe(
    'nowhere.yml: error: the file cannot be read: there is no such file. Correct the path, or let router init write a config.\n',
  )
})

test('a secret is not printed, even when another component puts it into a problem', async () => {
  const leaky = right
    .replace('http:', 'https:')
    .replace('}"}', '}", auth-config: {tls: {ca-file: "/canary-5f3c9e"}}}')
  for (const output of ['text', 'json'] as const) {
    const { stdout, stderr } = await validate(leaky, { output })
    expect(stdout + stderr).not.toContain(environment.KEY)
    expect(stdout + stderr).toContain('[redacted]')
  }
})

test('router schema prints a JSON Schema', async () => {
  let stdout = ''
  expect(await runSchema({ stdout: { write: (chunk) => (stdout += chunk) } })).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({
    $schema: 'http://json-schema.org/draft-07/schema#',
    properties: { endpoints: { type: 'array' }, strategy: { default: 'balanced' } },
  })
})
