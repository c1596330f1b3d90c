// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal as before, parse } from './config-text.fixture.ts'
import { changeOf, checkFixed, liveKeys } from './live-keys.ts'
import { annotatedSchema, type JsonSchema } from './json-schema.ts'

const read = (text: string, environment: Record<string, string> = {}) => {
  const parsed = parse(text, environment)
  expect(parsed.problems.filter(({ severity }) => severity === 'error')).toEqual([])
  return parsed
}

test.each([
  ['nothing', before],
  ['another upstream', before.replace('https://', 'https://other.')],
  ['an upstream more', before.replace('direct-rpc:', 'backup-direct-rpc: []\ndirect-rpc:')],
  ['a budget of all listeners', `${before}\nstrategy: latency\nmax-relay-attempts: 3\n`],
  [
    'a budget of one listener',
    before.replace('direct-rpc', '    relay: {strategy: latency}\ndirect-rpc'),
  ],
  ['policies of the cache', `${before}\ncache: {policies: [{method: '*', ttl: never}]}\n`],
  ['the log level', `${before}\nlog-level: debug\n`],
  ['defaults written out', `${before}\nlog-format: json\nepoch-duration: 900s\n`],
])('%s can change while it runs', (_, after) => {
  expect(checkFixed(read(before), read(after))).toEqual([])
})

test.each([
  ['integrity', 'integrity: full'],
  ['metrics-listen-address', 'metrics-listen-address: :7779'],
  ['cache', 'cache: {shared: false}'],
  ['resp-cache', 'resp-cache: {addresses: [127.0.0.1:6379]}'],
  ['use-static-spec', 'use-static-spec: [specs]'],
])('a change of %s needs a new process', (key, line) => {
  const [problem, ...others] = checkFixed(read(before), read(`${before}\n${line}\n`))
  expect(others).toEqual([])
  expect(problem).toMatchObject({ severity: 'error', path: key })
  expect(problem?.line).toBeGreaterThan(1)
})

test('a changed secret counts, and the message omits its value', () => {
  const text = `${before}\nresp-cache: {addresses: [127.0.0.1:6379], password: '\${P}'}\n`
  const [one, two] = ['hunter2-hunter2', 'other-hunter2'].map((P) => read(text, { P }))
  expect(checkFixed(one!, one!)).toEqual([])
  const found = JSON.stringify(checkFixed(one!, two!))
  expect(found).toContain('resp-cache')
  expect(found).not.toContain('hunter2')
})

test('every live key exists in the config', () => {
  const pathsOf = (schema: JsonSchema, path: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
      const own = `${path}${name}`
      return [own, ...pathsOf(property, `${own}.`), ...pathsOf(property.items ?? {}, `${own}[].`)]
    })
  const paths = pathsOf(annotatedSchema(), '')
  expect([...liveKeys].filter((key) => !paths.includes(key))).toEqual([])
  expect(paths.length).toBeGreaterThan(80)
})

test.each([
  ['direct-rpc', 'live'],
  ['direct-rpc[].node-urls[].url', 'live'],
  ['endpoints', null],
  ['endpoints[].relay', null],
  ['endpoints[].relay.strategy', 'live'],
  ['endpoints[].relay.integrity', 'restart'],
  ['endpoints[].network-address', 'restart'],
  ['cache', null],
  ['cache-be', 'restart'],
  ['strategy', 'live'],
])('%s: %s', (path, change) => {
  expect(changeOf(path)).toBe(change)
})
