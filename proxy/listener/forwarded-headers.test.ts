// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { forwardHeaders } from './forwarded-headers.ts'

const allowed = new Set(['x-a', 'x-b', 'z', 'te', 'trailer', 'upgrade', 'proxy-authorization'])

const rows: [string, string[], string[]][] = [
  ['what is listed', ['X-A', '1', 'X-C', '2'], ['x-a', '1']],
  ['what comes twice, twice', ['X-A', '1', 'x-a', '2'], ['x-a', '1', 'x-a', '2']],
  [
    'nothing of the hop itself, though it is listed',
    ['TE', 'gzip', 'Trailer', 'x', 'Upgrade', 'h2c', 'Proxy-Authorization', 'Basic eA=='],
    [],
  ],
  ['nothing that is there already', ['Z', '1', 'X-A', '1'], ['x-a', '1']],
]
test.each(rows)('%s', (_name, from, expected) => {
  expect(forwardHeaders(from, allowed, ['z', '0'])).toEqual(['z', '0', ...expected])
})
