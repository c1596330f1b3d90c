// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { minimal, problemsOf } from './config-text.fixture.ts'
import { changeOf } from './live-keys.ts'

const upstream = (text: string) => minimal.replace('    node-urls:', `    ${text}\n    node-urls:`)
const endpoint = (text: string) => minimal.replace('direct-rpc:', `    ${text}\ndirect-rpc:`)

test.each<[text: string, problem: string]>([
  ['allowed-methods: []', 'error PLACE.allowed-methods: the list is empty'],
  ['denied-methods: []', 'error PLACE.denied-methods: the list is empty'],
  ['allowed-methods: [{a: b}]', 'error PLACE.allowed-methods[0]: is a map'],
  ['denied-methods: {a: b}', 'error PLACE.denied-methods: is a map'],
  ['allowed-methods: ["eth_a eth_b"]', '"eth_a eth_b" cannot be a pattern of methods'],
  ['denied-methods: [""]', 'error PLACE.denied-methods[0]: "" is empty'],
  ['denied-methods: ["${KEY}"]', 'cannot hold a placeholder'],
  [
    'allowed-methods: [a, eth_*]\n    denied-methods: [b, eth_*]',
    'error PLACE.denied-methods[1]: "eth_*" is in allowed-methods too | Keep one of them.',
  ],
])('%s', (text, problem) => {
  for (const [file, place] of [
    [endpoint(text), 'endpoints[0]'],
    [upstream(text), 'direct-rpc[0]'],
  ] as const) {
    const problems = problemsOf(file)
    expect(problems.join()).toContain(problem.replace('PLACE', place))
    expect(problems.join()).toMatch(/^\d+:\d+ /)
  }
})

test.each(['allowed-methods: eth_*', 'denied-methods: [eth_*, "*"]'])('%s', (text) => {
  expect([...problemsOf(endpoint(text)), ...problemsOf(upstream(text))]).toEqual([])
})

test.each(['endpoints[].allowed-methods', 'direct-rpc[].denied-methods'])(
  'a running router applies %s',
  (path) => {
    expect(changeOf(path)).toBe('live')
  },
)
