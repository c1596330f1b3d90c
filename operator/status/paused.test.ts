// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { routerStatus } from './router-status.ts'

const golden = join(import.meta.dirname, '../translate/testdata/minimal.in.yaml')
const scenario = readScenario(readFileSync(golden, 'utf8'))

/** Returns the reason of Programmed with these annotations. */
function programmed(annotations: Readonly<Record<string, string>>) {
  const { router } = scenario
  const { conditions = [] } = routerStatus({
    router: { ...router, metadata: { ...router.metadata, annotations } },
    translation: translateScenario(scenario),
    applied: { result: 'applied' },
    deployment: null,
    missingMonitor: null,
    rollsOut: false,
    now: '2026-01-31T03:00:00Z',
  })
  return conditions.find(({ type }) => type === 'Programmed')?.reason
}

test.each([
  'true',
  'True',
  'TRUE',
  ' true\n',
  '1',
  'yes',
  'on',
  't',
  'ture',
  '0',
  'no',
  'incident 7',
])('rpcrouter.dev/paused=%j pauses', (value) => {
  expect(programmed({ 'rpcrouter.dev/paused': value })).toBe('Paused')
})

test.each([
  [{ 'rpcrouter.dev/paused': 'false' }],
  [{ 'rpcrouter.dev/paused': 'False' }],
  [{ 'rpcrouter.dev/paused': ' FALSE ' }],
  [{ 'rpcrouter.dev/paused': '' }],
  [{ 'rpcrouter.dev/pause': 'true' }],
  [{}],
])('%j does not pause', (annotations) => {
  expect(programmed(annotations)).toBe('Programmed')
})
