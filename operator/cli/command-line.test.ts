// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { parseCommandLine, valueOf } from './command-line.ts'
import { flagNames, helpText } from './flags.ts'

describe('a command line', () => {
  test('without arguments runs the operator with all defaults', () => {
    const { command, values, problems } = parseCommandLine([])
    expect([command, problems]).toEqual(['run', []])
    expect(valueOf(values, 'lease-name')).toBe(null)
    expect(valueOf(values, 'kubeconfig')).toBeNull()
    expect(values.namespaces).toEqual([])
  })

  test('has flags before or after the command, with or without =, long or short', () => {
    const { command, values, problems } = parseCommandLine([
      '-n=rpc',
      'render',
      '-f',
      'a.yaml',
      '--filename=-',
      '-o',
      'json',
    ])
    expect([command, problems]).toEqual(['render', []])
    expect(values.filename).toEqual(['a.yaml', '-'])
    expect(valueOf(values, 'namespace')).toBe('rpc')
    expect(valueOf(values, 'output')).toBe('json')
  })

  test.each([
    [['--help'], 'help'],
    [['render', '-h'], 'help'],
    [['help', '--nonsense'], 'help'],
    [['--version'], 'version'],
    [['-v'], 'version'],
    [['rbac'], 'rbac'],
  ])('%j asks for %s', (argv, command) => {
    const line = parseCommandLine(argv)
    expect([line.command, line.problems]).toEqual([command, []])
  })
})

describe('a fault is reported with its remedy', () => {
  test.each([
    [['rendr', '-f', 'x'], 'Unknown command "rendr". Did you mean render?'],
    [['frobnicate'], 'Unknown command "frobnicate". See rpc-operator --help.'],
    [['--namespace', 'rpc'], '--namespace is a flag of render and validate, not of run.'],
    [
      ['rbac', '--router-image', 'a'],
      '--router-image is a flag of run, render and validate, not of rbac.',
    ],
    [['--namespces', 'rpc'], 'Unknown flag --namespces. Did you mean --namespaces?'],
    [['-x'], 'Unknown flag -x. See rpc-operator --help.'],
    [['--workers', 'many'], '--workers "many" must be an integer from 1 to 256.'],
    [['--workers', '0'], '--workers "0" must be an integer from 1 to 256.'],
    [['--workers='], '--workers must have a value.'],
    [['--workers'], '--workers has no value. Write --workers <n>.'],
    [['--workers', '--qps', '5'], '--workers has no value. Write --workers <n>.'],
    [['--workers', '1', '--workers', '2'], '--workers occurs twice. Keep one of them.'],
    [['--namespaces', 'a,B'], '--namespaces "a,B" must be namespaces separated by commas.'],
    [['--leader-elect', 'yes'], '--leader-elect "yes" must be one of true, false.'],
    [['--listen-address', '8080'], '--listen-address "8080" must be host:port or off.'],
    [['render', 'a.yaml'], 'Unexpected argument "a.yaml". Write -f a.yaml.'],
    [['rbac', 'a.yaml'], 'Unexpected argument "a.yaml".'],
    [['render', '-o', 'xml'], '--output "xml" must be one of yaml, json, text.'],
    [
      ['rbac', '--service-account', 'operator'],
      '--service-account "operator" must be namespace/name of a service account.',
    ],
  ])('%j', (argv, sentence) => {
    expect(parseCommandLine(argv).problems).toEqual([sentence])
  })
})

test('the help names every flag', () => {
  for (const name of flagNames) expect(helpText()).toContain(`--${name} <`)
})
