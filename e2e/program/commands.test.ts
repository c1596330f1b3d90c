// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { main } from '../../proxy/cli/main.ts'
import { routerConfig } from '../processes/router-config.ts'
import { runProgram } from './program.ts'
import { createWorkspace, ethereumConfig, legOf, type Workspace } from './workspace.ts'

const node = { name: 'a', url: 'http://127.0.0.1:9' }
const good = ethereumConfig([node])

let workspace: Workspace
beforeAll(async () => {
  workspace = await createWorkspace()
  const files = {
    'good.yml': good,
    'good.json': JSON.stringify(good),
    'missing.yml': ethereumConfig([{ ...node, url: `${node.url}/\${FIRST}?key=$<SECOND>` }]),
    'empty.yml': '',
    'syntax.yml': 'endpoints: [\n',
    'two-mistakes.yml': { ...ethereumConfig([{ ...node, url: 'ftp://a' }]), stratgy: 'latency' },
    'chain.yml': routerConfig([legOf('ETH2', [node])]),
  }
  for (const [name, content] of Object.entries(files)) await workspace.write(name, content)
})
afterAll(() => workspace[Symbol.asyncDispose]())

/** Runs a command in this process, which is ten times faster. Arguments may name files. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const inFolder = (text: string) =>
    /^[\w-]+\.(yml|json)$|^\.$/.test(text) ? `${workspace.directory}/${text}` : text
  const places = Object.entries(environment).map(([name, text]) => [name, inFolder(text)])
  const written = { stdout: '', stderr: '' }
  const sink = (name: keyof typeof written) => ({
    write: (text: string) => (written[name] += text.replaceAll(`${workspace.directory}/`, '')),
  })
  const code = await main(args.map(inFolder), {
    stdout: sink('stdout'),
    stderr: sink('stderr'),
    environment: Object.fromEntries(places) as Record<string, string>,
  })
  return { code, ...written }
}

test('--env-file reaches the URLs, and a missing file ends with code 2', async () => {
  const keys = await workspace.write('keys.env', "FIRST=a # note\nSECOND='b'\n")
  const file = `${workspace.directory}/missing.yml`
  for (const flags of [['--env-file', keys], [`--env-file=${keys}`]])
    expect(await runProgram(['validate', file, ...flags])).toMatchObject({ code: 0, stderr: '' })
  const { code, stderr } = await runProgram(['validate', file, '--env-file', '/nowhere/keys.env'])
  expect(code).toBe(2)
  expect(stderr).toContain('the env file /nowhere/keys.env cannot be read: there is no such file')
})

describe('an invalid config is refused with code 2, before any port is opened', () => {
  test.each<[string, string[], Record<string, string>, string[]]>([
    ['no such file', ['gone.yml'], {}, ['gone.yml: error: ', 'there is no such file']],
    ['a folder', ['.'], {}, ['.: error: ', 'it is a directory']],
    ['an empty file', ['empty.yml'], {}, ['the file is empty', 'direct-rpc']],
    ['no YAML', ['syntax.yml'], {}, ['syntax.yml:2:1: error: not valid YAML: ']],
    [
      'two mistakes',
      ['two-mistakes.yml'],
      {},
      ['two-mistakes.yml:10:14: error: direct-rpc[0].node-urls[0].url', 'Did you mean "strategy"?'],
    ],
    ['an unknown chain', ['chain.yml'], {}, ['endpoints[0].chain-id', 'ETH2', 'ETH1']],
    ['an unknown flag', ['good.yml', '--stratgy=latency'], {}, ['--stratgy', 'mean --strategy?']],
    ['a flag without value', ['good.yml', '--strategy'], {}, ['--strategy', 'value']],
    ['two files', ['good.yml', 'empty.yml'], {}, ['unexpected argument "empty.yml"']],
    ['an unknown command', ['validat', 'good.yml'], {}, ['Did you mean validate?']],
    ['placeholders without values', ['missing.yml'], {}, ['FIRST', 'SECOND']],
    ['one placeholder without value', ['missing.yml'], { SECOND: 'x' }, ['FIRST']],
    ['no specs', ['good.yml', '--use-static-spec', '/nowhere'], {}, ['/nowhere: does not exist']],
    ['no specs', ['good.yml'], { SR_SPEC: '/nowhere' }, ['/nowhere: does not exist']],
    ['a file from SR_CONFIG', [], { SR_CONFIG: 'gone.yml' }, ['gone.yml: error: ']],
    ['SR_LOG_LEVEL', ['good.yml'], { SR_LOG_LEVEL: 'loud' }, ['SR_LOG_LEVEL', 'debug, info, warn']],
    ['SR_LOG_FORMAT', ['good.yml'], { SR_LOG_FORMAT: 'xml' }, ['SR_LOG_FORMAT', 'json, text']],
  ])('%s: %j %j', async (_what, args, env, words) => {
    const { code, stdout, stderr } = await run(args, env)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    for (const word of words) expect(stderr).toContain(word)
    for (const line of stderr.trimEnd().split('\n')) expect(line).toMatch(/^\S+: error: .*[.?]$/)
  })
})

describe('commands that do not serve', () => {
  test.each(['good.yml', 'good.json'])('validate %s', async (file) => {
    const stdout = `${file} is valid: 1 listener, 1 upstream\n`
    expect(await run(['validate', file])).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('validate reports every problem', async () => {
    const { code, stdout, stderr } = await run(['validate', 'two-mistakes.yml'])
    expect([code, stdout, stderr.trim().split('\n').length]).toEqual([2, '', 2])
  })

  test('validate --output json', async () => {
    const fine = await run(['validate', 'good.yml', '--output', 'json'])
    expect(fine).toMatchObject({ code: 0, stderr: '' })
    const nothing = { version: 1, file: 'good.yml', valid: true, problems: [] }
    expect(JSON.parse(fine.stdout)).toEqual(nothing)
    const { code, stdout, stderr } = await run(['validate', 'two-mistakes.yml', '--output=json'])
    expect([code, stderr]).toEqual([2, ''])
    expect((JSON.parse(stdout) as { problems: object[] }).problems).toEqual([
      expect.objectContaining({ path: 'direct-rpc[0].node-urls[0].url', line: 10, column: 14 }),
      expect.objectContaining({ path: 'stratgy', line: 14, hint: 'Did you mean "strategy"?' }),
    ])
  })

  test('schema prints a JSON Schema with the config keys', async () => {
    const { code, stdout, stderr } = await run(['schema'])
    expect([code, stderr]).toEqual([0, ''])
    const { properties } = JSON.parse(stdout) as { properties: object }
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(good)))
  })

  test.each(['version', '--version'])('%s', async (command) => {
    const stdout = `${packageJson.version}\n`
    expect(await run([command])).toEqual({ code: 0, stdout, stderr: '' })
  })

  test('help fits a terminal, and lists commands, flags, variables and exit codes', async () => {
    const shown = await run(['--help'])
    expect(shown).toMatchObject({ code: 0, stderr: '' })
    expect(await run(['help'])).toEqual(shown)
    for (const word of ['validate', 'schema', 'router init', 'SR_CONFIG', 'Exit codes'])
      expect(shown.stdout).toContain(word)
    const widths = shown.stdout.split('\n').map((line) => line.length)
    expect(Math.max(...widths)).toBeLessThanOrEqual(100)
  })
})

describe('the program itself', () => {
  test.concurrent.each([
    [['validate', 'good.yml'], 0],
    [['missing.yml'], 2],
  ])('%j ends with code %d, and writes what the command says', async (args, code) => {
    const ended = await runProgram(args, { cwd: workspace.directory })
    expect(ended).toEqual(await run(args))
    expect(ended.code).toBe(code)
  })

  test('an address in use ends the program with code 1, and the log names it', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    try {
      await new Promise((done) => taken.once('listening', done))
      const { port } = taken.address() as AddressInfo
      const address = `127.0.0.1:${port}`
      for (const config of [
        { ...good, ...routerConfig([{ ...legOf('ETH1', [node]), port }]) },
        { ...good, 'metrics-listen-address': address },
      ]) {
        const { code, stdout } = await runProgram([await workspace.write('taken.yml', config)])
        expect(code).toBe(1)
        expect(stdout).toContain(address)
        expect(stdout).toContain('address already in use')
        expect(stdout).toMatch(
          /stop it, or change (?:network-address, in the file or as --network-address|the port)/,
        )
      }
    } finally {
      taken.close()
    }
  })
})
