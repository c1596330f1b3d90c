// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { readStat } from './process-usage.ts'

test('a process name with brackets and spaces is parsed', () => {
  const line = '12 (tmux: a) (b) S 7 12 12 0 -1 4194560 100 200 0 0 31 42 1 2 20 0 1 0 5 1 2'
  const name = 'tmux: a) (b'
  expect(readStat(line)).toEqual({ name, parent: 7, userTicks: 31, systemTicks: 42 })
})
