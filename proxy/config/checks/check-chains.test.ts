// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, it, test } from 'vitest'
import { parse, problemsOf } from '../config-text.fixture.ts'

const of = 'chain-id: ETH1, api-interface: jsonrpc'

/** Builds a config whose upstreams are in these groups; an empty name means no group. */
function config(policies: string, groups = ['', '', '']): string {
  const upstreams = groups.map((group, at) => {
    const label = group === '' ? '' : `, group-label: ${group}`
    return `  - {name: n${at}, ${of}${label}, node-urls: [{url: "https://n${at}.example"}]}`
  })
  return [
    'endpoints:',
    `  - {network-address: "127.0.0.1:3360", ${of}}`,
    'direct-rpc:',
    ...upstreams,
    'cross-validation:',
    '  policies:',
    policies,
    '',
  ].join('\n')
}

function policy(more: string): string {
  return `    - {${of}, method: eth_getBalance, ${more}}`
}

it('reads a bare number as the floor, and fills in defaults', () => {
  const text = config(policy('agreement-threshold: 2, max-participants: {cap: 3}'))
  expect(problemsOf(text)).toEqual([])
  expect(parse(text).config?.policies).toMatchObject([
    {
      agreement: 2,
      maxAgreement: Infinity,
      participants: 0,
      maxParticipants: 3,
      minGroups: 1,
      perGroupQuorum: 1,
      oneVotePerGroup: false,
      ignoreFields: [],
      forbidsCallers: false,
    },
  ])
})

it('drops a policy that is not enabled', () => {
  const text = config(policy('enabled: false, agreement-threshold: 9'))
  expect(problemsOf(text)).toEqual([])
  expect(parse(text).config?.policies).toEqual([])
})

test.each<[string, string[], string[]?]>([
  [
    policy('agreement-threshold: {floor: 3, cap: 2}'),
    ['cross-validation.policies[0].agreement-threshold.cap: cap 2 is below floor 3'],
  ],
  [policy('agreement-threshold: 3, max-participants: 2'), []],
  [policy('agreement-threshold: 3, max-participants: {floor: 2}'), []],
  [policy('agreement-threshold: {floor: 3}, max-participants: {floor: 2, cap: 3}'), []],
  [
    policy('agreement-threshold: 3, max-participants: {cap: 2}'),
    [
      'cross-validation.policies[0].agreement-threshold: 3 answers must match, but max-participants allows at most 2 upstreams',
    ],
  ],
  [
    policy('max-participants: 4'),
    [
      'cross-validation.policies[0].max-participants: the floor is 4, and ETH1 jsonrpc has 3 upstreams',
    ],
  ],
  [
    policy('min-groups: 2'),
    ['cross-validation.policies[0].min-groups: 2 groups are needed, and ETH1 jsonrpc has 1'],
  ],
  [policy('min-groups: 2'), [], ['a', 'b', '']],
  [
    policy('min-groups: 2, per-group-quorum: 2'),
    [
      'cross-validation.policies[0].min-groups: 2 groups are needed, and ETH1 jsonrpc has 1 with 2 upstreams or more',
    ],
    ['a', 'a', 'b'],
  ],
  [
    policy('min-groups: 2, per-group-quorum: 2, max-participants: {cap: 3}'),
    [
      'cross-validation.policies[0]: 2 groups of 2 are needed, but max-participants allows at most 3 upstreams',
    ],
    ['a', 'a', 'b', 'b'],
  ],
  [
    policy('agreement-threshold: 2, one-vote-per-group: true'),
    [
      'cross-validation.policies[0].agreement-threshold: the floor is 2, and ETH1 jsonrpc has 1 group',
    ],
  ],
  [
    policy('one-vote-per-group: true, per-group-quorum: 2'),
    [
      'cross-validation.policies[0].per-group-quorum: with one-vote-per-group a group has no more than 1 answer',
    ],
  ],
  [
    `${policy('agreement-threshold: 2')}\n${policy('forbid-caller-cv: true')}`,
    [
      'cross-validation.policies[1]: there is a policy for ETH1 jsonrpc eth_getBalance already, cross-validation.policies[0]',
    ],
  ],
  [policy('enabled: false'), []],
  [
    policy('max-participants: {}, per-group-quorum: 1, forbid-caller-cv: false'),
    ['cross-validation.policies[0]: the policy has no effect, because it demands nothing'],
  ],
  [policy('ignore-fields: [a]'), []],
  [
    '    - {chain-id: BTC, api-interface: jsonrpc, method: getblock, agreement-threshold: 2}',
    [
      'cross-validation.policies[0]: no listener of endpoints serves BTC jsonrpc, so this policy has no effect',
    ],
  ],
  [
    policy('agreement-threshold: 0, min-groups: many, ignore-fields: [a..b], participants: 3'),
    [
      'cross-validation.policies[0].agreement-threshold: "0" is too small',
      'cross-validation.policies[0].min-groups: "many" is not a whole number',
      'cross-validation.policies[0].ignore-fields: "a..b" cannot be the path of a field',
      'cross-validation.policies[0].participants: unknown key "participants"',
    ],
  ],
])('%s', (policies, problems, groups) => {
  const found = problemsOf(config(policies, groups))
  const texts = found.map((each) => each.replace(/^\S+ \S+ /, '').replace(/ \|.*/, ''))
  expect(texts.map((each) => each.replace(/(ignore-fields)\[0\]/, '$1'))).toEqual(problems)
})
