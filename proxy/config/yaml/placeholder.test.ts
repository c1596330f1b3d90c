// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { renderPlaceholders } from './scalar.ts'

const environment = { KEY: 'k3y', USER: 'me', EMPTY: '', ODD: 'a: ${KEY} $& $1' }

test.each([
  ['${KEY}', 'k3y'],
  ['$<KEY>', 'k3y'],
  ['https://$<USER>:${KEY}@host/${KEY}', 'https://me:k3y@host/k3y'],
  ['$${KEY}', '${KEY}'],
  ['$$<KEY>', '$<KEY>'],
  ['costs $5 and $$', 'costs $5 and $$'],
  ['${ODD}', 'a: ${KEY} $& $1'],
  ['', ''],
])('%j is rendered as %j', (written, value) => {
  expect(renderPlaceholders(written, environment).scalar.reveal()).toBe(value)
})

test.each([
  ['${NOPE}/${NOPE2}', ['NOPE', 'NOPE2']],
  ['${EMPTY}', ['EMPTY']],
  ['${toString}', ['toString']],
  ['${__proto__}', ['__proto__']],
])('%j misses %j', (written, missing) => {
  const rendering = renderPlaceholders(written, environment)
  expect(rendering.missing).toEqual(missing)
  expect(rendering.scalar.reveal()).toBeNull()
})

test.each(['${}', '${KEY', '$<KEY', '${KEY:-x}', '${A B}', '${ KEY }', '${1}', '$<${KEY}>'])(
  '%j is malformed',
  (written) => {
    expect(renderPlaceholders(written, environment)).toMatchObject({
      malformed: true,
    })
  },
)
