// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { layerEnvironment } from './env-file.ts'

test('the environment beats the files, a later file beats an earlier one', () => {
  const files = ['A=1\nB=1\nC=1', '# note\nexport B=2\nC="2 # no note"\nD=\'a\nb\'']
  expect({ ...layerEnvironment({ C: '3' }, files) }).toEqual({ A: '1', B: '2', C: '3', D: 'a\nb' })
})

test('a byte order mark and CRLF do no harm', () => {
  expect({ ...layerEnvironment({}, ['\uFEFFA=1\r\nB=2\r\n']) }).toEqual({ A: '1', B: '2' })
})
