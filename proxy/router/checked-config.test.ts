// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig, mostFileBytes, readTextFile } from './checked-config.ts'

let folder = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'router-config-'))
  const at = (name: string): string => join(folder, name)
  await writeFile(at('plain.yml'), 'a: 1\n')
  await symlink(at('plain.yml'), at('link.yml'))
  await symlink(at('loop.yml'), at('loop.yml'))
  await mkdir(at('folder'))
  await writeFile(at('huge.yml'), '')
  await truncate(at('huge.yml'), 100_000_000)
  await writeFile(at('largest.yml'), '#'.repeat(mostFileBytes))
  await writeFile(at('latin1.yml'), Buffer.from('a: 1\nb: \xe9\n', 'latin1'))
  await writeFile(at('utf16.yml'), Buffer.from('\uFEFFa: 1\n', 'utf16le'))
  await writeFile(at('secret.yml'), 'a: 1\n')
  await chmod(at('secret.yml'), 0)
  execFileSync('mkfifo', [at('pipe')])
})

afterAll(() => rm(folder, { recursive: true }))

test.each([
  ['plain.yml', 5],
  ['link.yml', 5],
  ['largest.yml', mostFileBytes],
])('%s is read', async (name, length) => {
  const file = await readTextFile(join(folder, name))
  expect('text' in file && file.text).toHaveLength(length)
})

test.each([
  ['missing.yml', 'the file cannot be read: there is no such file'],
  ['folder', 'the file cannot be read: it is a directory'],
  ['plain.yml/x', 'the file cannot be read: not a directory'],
  ['loop.yml', 'the file cannot be read: too many symbolic links encountered'],
  ['huge.yml', 'the file cannot be read: it is larger than 1 MiB'],
  ['pipe', 'the file cannot be read: it is not a regular file'],
  ['latin1.yml', 'the file cannot be read: it is not valid UTF-8 (line 2)'],
  ['utf16.yml', 'the file cannot be read: it is UTF-16'],
  ['x'.repeat(5000), 'the file cannot be read: name too long'],
  ['nul\0byte', 'the file cannot be read: the path is not valid'],
])('%j is refused', async (name, message) => {
  expect(await readTextFile(join(folder, name))).toMatchObject({ problem: { message } })
})

test('a file that is too large says what to do', async () => {
  expect(await readTextFile(join(folder, 'huge.yml'))).toMatchObject({
    problem: {
      hint: 'If it is the right file, divide it: a second router can serve some of the chains.',
    },
  })
})

test('a device is refused', async () => {
  expect(await readTextFile('/dev/zero')).toMatchObject({
    problem: { message: 'the file cannot be read: it is not a regular file' },
  })
})

test('a file without permission is refused, except for root', async () => {
  const message = 'the file cannot be read: permission denied'
  const expected = process.getuid?.() === 0 ? { text: 'a: 1\n' } : { problem: { message } }
  expect(await readTextFile(join(folder, 'secret.yml'))).toMatchObject(expected)
})

const config = (envFile: string): string => `endpoints: [{chain-id: ETH1, api-interface: jsonrpc}]
direct-rpc:
  - {name: one, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{url: "http://x/\${KEY}"}]}
${envFile}`

test('variables come from the environment first, then from env files', async () => {
  const [configPath, a, b] = ['config.yml', 'a.env', 'b.env'].map((name) => join(folder, name))
  if (configPath === undefined || a === undefined || b === undefined) throw new Error('no paths')
  await writeFile(configPath, config(`env-file: ${a}\n`))
  await writeFile(a, 'KEY=from-a\nSR_LOG_LEVEL=debug\n')
  await writeFile(b, 'KEY=from-b\n')
  const urlWith = async (flags: Record<string, string[]>, environment: Record<string, string>) => {
    const { parsed } = await loadConfig({ configPath, flags, environment })
    return parsed.config?.upstreams[0]?.nodeUrls[0]?.url.reveal()
  }
  expect(await urlWith({}, {})).toBe('http://x/from-a')
  expect(await urlWith({ 'env-file': [b] }, {})).toBe('http://x/from-b')
  expect(await urlWith({ 'env-file': [a, b] }, {})).toBe('http://x/from-b')
  expect(await urlWith({}, { KEY: 'from-outside' })).toBe('http://x/from-outside')
  expect(
    (await loadConfig({ configPath, flags: {}, environment: {} })).parsed.config?.logLevel,
  ).toBe('debug')
})

test('an unreadable env file is the only problem reported', async () => {
  const configPath = join(folder, 'config2.yml')
  await writeFile(configPath, config('env-file: /nowhere/keys.env\n'))
  const { parsed } = await loadConfig({ configPath, flags: {}, environment: {} })
  const { problems } = parsed
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toEqual([
    'env-file: the env file /nowhere/keys.env cannot be read: there is no such file',
  ])
})

test('each file of a directory is a variable, as in a mounted Secret', async () => {
  const data = join(folder, 'keys', '..2026_01_01')
  await mkdir(data, { recursive: true })
  await writeFile(join(data, 'LEVEL'), 'warn\n')
  await writeFile(join(data, 'KEY'), "a # b='c'")
  await symlink('..2026_01_01', join(folder, 'keys', '..data'))
  for (const name of ['LEVEL', 'KEY'])
    await symlink(join('..data', name), join(folder, 'keys', name))
  const configPath = join(folder, 'keys.yml')
  const text = config(`env-file: ${folder}/keys\nlog-level: '\${LEVEL}'\nlog-format: '\${KEY}'\n`)
  await writeFile(configPath, text)
  const { parsed, files } = await loadConfig({ configPath, flags: {}, environment: {} })
  expect(parsed.file['log-level']).toBe('warn')
  expect(parsed.hidden()).toContain("a # b='c'")
  expect(files).toEqual([
    configPath,
    ...['', '/KEY', '/LEVEL'].map((each) => `${folder}/keys${each}`),
  ])
})
