// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readScenario, translateScenario } from '../testing/scenario.ts'
import { type Applied, routerStatus } from './router-status.ts'

/** Returns the message of Available while no pods exist. */
function available(scenario: string, applied: Applied): string | undefined {
  const path = join(import.meta.dirname, '../translate/testdata', `${scenario}.in.yaml`)
  const read = readScenario(readFileSync(path, 'utf8'))
  const { conditions = [] } = routerStatus({
    router: read.router,
    translation: translateScenario(read),
    applied,
    deployment: null,
    missingMonitor: null,
    rollsOut: false,
    now: '2026-01-01T00:00:00Z',
  })
  return conditions.find(({ type }) => type === 'Available')?.message
}

test('a valid config that the API server refuses is not called invalid', () => {
  const refused: Applied = { result: 'refused', message: 'PATCH configmaps: exceeded quota' }
  expect(available('minimal', refused)).toBe('Nothing runs yet: see Programmed.')
})

test('without a valid config nothing runs', () => {
  expect(available('no-providers', { result: 'skipped' })).toBe('No config has been valid yet.')
})
