// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { UpstreamPlan } from './router-document.ts'
import { readUpstreams, writeUpstreams } from './stored-upstreams.ts'

const plan: UpstreamPlan = {
  provider: 'alpha',
  tier: 'primary',
  serves: 'ETH1 jsonrpc',
  entry: { name: 'alpha', 'node-urls': [{ url: 'https://alpha.example', addons: ['archive'] }] },
  variables: [{ name: 'KEY_ALPHA', secret: { name: 'keys', key: 'alpha' } }],
  files: [{ path: 'a.pem', secret: { name: 'tls', key: 'tls.key' } }],
  copies: [{ name: 'b.pem', text: 'a CA' }],
}

test('what was written is read again, with its keys in the same order', () => {
  const read = readUpstreams({ 'upstreams.json': writeUpstreams([plan]), 'b.pem': 'a CA' })
  expect(JSON.stringify(read)).toBe(JSON.stringify([plan]))
})

const { copies: _, ...rest } = plan

test.each([
  ['nothing', {}],
  ['no JSON', { 'upstreams.json': '[{' }],
  ['another kind of value', { 'upstreams.json': 'null' }],
  ['the form before there were versions', { 'upstreams.json': JSON.stringify([rest]) }],
  ['a later version', { 'upstreams.json': '{"version":2,"upstreams":[]}' }],
  [
    'an upstream that lacks a part',
    { 'upstreams.json': JSON.stringify({ version: 1, upstreams: [rest] }) },
  ],
  ['a copied file that is not there', { 'upstreams.json': writeUpstreams([plan]) }],
] as readonly (readonly [string, Readonly<Record<string, string>>])[])(
  '%s counts as no last good form',
  (_what, data) => {
    expect(readUpstreams(data)).toEqual([])
  },
)
