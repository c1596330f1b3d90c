// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseFlags } from './command-line.ts'
import { type Command, commandRows } from './commands.ts'
import { commandHelp, completions, helpText } from './help.ts'
import { settingNames } from '../config/settings.ts'

describe('a valid command line', () => {
  test.each([
    ['config.yml', 'run', ['config.yml'], {}],
    ['run config.yml', 'run', ['config.yml'], {}],
    ['', 'run', [], {}],
    ['validate config.yml', 'validate', ['config.yml'], {}],
    ['schema', 'schema', [], {}],
    ['cache :20100 --cache-bytes 1GiB', 'cache', [':20100'], { 'cache-bytes': ['1GiB'] }],
    ['version', 'version', [], {}],
    ['--version', 'version', [], {}],
    ['-v', 'version', [], {}],
    ['help', 'help', [], {}],
    ['help validate', 'help', ['validate'], {}],
    ['--help', 'help', [], {}],
    ['validate -h', 'help', ['validate'], {}],
    ['-h', 'help', [], {}],
    ['validate -', 'validate', ['-'], {}],
    ['c.yml --strategy latency', 'run', ['c.yml'], { strategy: ['latency'] }],
    ['--strategy=latency c.yml', 'run', ['c.yml'], { strategy: ['latency'] }],
    ['c.yml --shared-state', 'run', ['c.yml'], { 'shared-state': ['true'] }],
    ['--shared-state=false c.yml', 'run', ['c.yml'], { 'shared-state': ['false'] }],
    ['--env-file a --env-file=b c.yml', 'run', ['c.yml'], { 'env-file': ['a', 'b'] }],
    ['--set-relay-retry-limit -1 c.yml', 'run', ['c.yml'], { 'set-relay-retry-limit': ['-1'] }],
    ['--use-static-spec=a=b c.yml', 'run', ['c.yml'], { 'use-static-spec': ['a=b'] }],
    ['-- --odd-name.yml', 'run', ['--odd-name.yml'], {}],
  ])('router %s', (line, command, positionals, flags) => {
    const parsed = parseFlags(line.split(' ').filter((word) => word !== ''))
    expect(parsed).toMatchObject({ command, positionals, flags, problems: [] })
  })

  test('selects the output of validate', () => {
    expect(parseFlags(['validate', 'c.yml', '--output', 'json']).output).toBe('json')
    expect(parseFlags(['validate', 'c.yml']).output).toBe('text')
    expect(parseFlags(['validate', 'c.yml', '--json'])).toMatchObject({
      output: 'json',
      problems: [],
    })
  })

  test('sets the flags of init', () => {
    const line = 'init c.yml --chain ETH1 --url http://a --url=http://b'
    expect(parseFlags(line.split(' '))).toMatchObject({
      ...{ command: 'init', positionals: ['c.yml'], problems: [] },
      own: { chain: ['ETH1'], url: ['http://a', 'http://b'] },
    })
  })
})

test.each([
  ['c.yml --stratgy latency', '--stratgy: unknown flag "--stratgy" | Did you mean --strategy?'],
  ['c.yml --zzz', '--zzz: unknown flag "--zzz" | See router help.'],
  ['c.yml -x', '-x: unknown flag "-x" | See router help.'],
  ['c.yml -strategy=latency', '-strategy: unknown flag "-strategy" | Did you mean --strategy?'],
  [
    'c.yml --strategy',
    '--strategy: the value is missing | Write --strategy <balanced|latency|sync-freshness|availability|round-robin>.',
  ],
  [
    '--strategy --shared-state c.yml',
    '--strategy: the value is missing | Write --strategy <balanced|latency|sync-freshness|availability|round-robin>.',
  ],
  ['c.yml --strategy=', '--strategy: the value is empty | null'],
  ['c.yml --strategy a --strategy b', '--strategy: the flag is given twice | Keep one of them.'],
  ['c.yml d.yml', ': unexpected argument "d.yml" | router run takes one config file.'],
  [
    'valdate c.yml',
    ': unknown command "valdate" | Did you mean validate? A file of that name is ./valdate.',
  ],
  ['statu', ': unknown command "statu" | Did you mean status? A file of that name is ./statu.'],
  ['schema c.yml', ': unexpected argument "c.yml" | router schema takes no arguments.'],
  ['cache a b', ': unexpected argument "b" | router cache takes one host:port.'],
  [
    'cache --strategy latency',
    '--strategy: the flag is not of router cache | Those of router cache: --cache-bytes, --metrics-listen-address, --drain-timeout, --log-level, --log-format.',
  ],
  [
    'c.yml --output json',
    '--output: the flag is not of router run | It is a flag of: router validate.',
  ],
  [
    'top --url http://a',
    '--url: the flag is not of router top | It is a flag of: router run, router init, router validate, router doctor, router config.',
  ],
  ['init --chain', '--chain: the value is missing | Write --chain <name>.'],
  ['init --chain a --chain b', '--chain: the flag is given twice | Keep one of them.'],
  [
    'validate c.yml --output xml',
    '--output: "xml" is not one of the allowed values | Allowed: text, json.',
  ],
])('router %s is refused', (line, problem) => {
  const { problems } = parseFlags(line.split(' '))
  expect(problems.map(({ path, message, hint }) => `${path}: ${message} | ${hint}`)).toEqual([
    problem,
  ])
})

test('all mistakes of a command line are reported at once', () => {
  expect(parseFlags(['--a', '--b=1', 'c.yml', '--strategy']).problems).toHaveLength(3)
})

test('any command line is parsed or refused', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom(
      '--',
      '-',
      '--=',
      '--=x',
      'validate',
      '--__proto__',
      '--constructor=1',
      '--strategy',
    ),
  )
  fc.assert(
    fc.property(fc.array(word), (argv) => {
      const { command, problems } = parseFlags(argv)
      expect(Object.keys(commandRows)).toContain(command)
      for (const { message } of problems) expect(message).not.toBe('')
    }),
  )
})

test('the help is narrow, and names every flag that works', () => {
  for (const command of Object.keys(commandRows) as Command[]) {
    const help = commandHelp(command)
    for (const line of help.split('\n')) expect(line.length).toBeLessThan(100)
    expect(help).toContain('Exit codes: ')
    expect(helpText()).toContain(`\n  ${command} `)
  }
  const help = commandHelp('run')
  for (const name of [...settingNames, 'chain', 'url', 'record'])
    expect(help).toContain(`  --${name}`)
  expect(help).toContain('Default: 30s.')
  expect(commandHelp('top')).not.toContain('--strategy')
})

test.each<[words: string, candidates: readonly string[]]>([
  ['val', ['validate']],
  ['--stra', ['--strategy']],
  ['top --', ['--json', '--at', '--once', '--help']],
  ['config.yml --strategy l', ['latency']],
  ['--log-level ', ['debug', 'info', 'warn', 'error']],
  ['init --interface r', ['rest']],
  ['completion ', ['bash', 'zsh', 'fish']],
  ['help rep', ['replay']],
  ['validate ', []],
  ['--env-file ', []],
  ['doctor --chain sol', ['solana', 'sol']],
  ['--chain BA', ['BASE']],
])('completing %j offers %j', (words, candidates) => {
  const chains = [
    { id: 'SLOTCHAIN', aliases: ['SOLANA', 'SOL'], name: 'Solana' },
    { id: 'BASE', aliases: [], name: 'Base' },
  ]
  expect(completions(words.split(' '), chains)).toEqual(candidates)
})
