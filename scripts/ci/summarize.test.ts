// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { summarize } from './summarize.ts'

interface File {
  readonly status: string
  readonly tests: readonly string[]
}

function report(passed: number, failed: number, files: readonly File[] = []): string {
  return JSON.stringify({
    numPassedTests: passed,
    numFailedTests: failed,
    testResults: files.map(({ status, tests }) => ({
      name: 'proxy/x.test.ts',
      status,
      assertionResults: tests.map((each) => ({ status: each })),
    })),
  })
}

const unloaded: File = { status: 'failed', tests: [] }
const withFailure: File = { status: 'failed', tests: ['passed', 'failed'] }

test.each([
  ['all passed', report(7, 0), 0, 0, '7 passed, 0 failed'],
  ['one test failed', report(6, 1, [withFailure]), 0, 1, '6 passed, 1 failed'],
  ['a file did not load', report(6, 0, [unloaded]), 0, 1, '6 passed, 1 failed'],
  [
    'a file did not load beside a failed test',
    report(6, 1, [unloaded, withFailure]),
    0,
    1,
    '6 passed, 2 failed',
  ],
  ['an error outside every test', report(7, 0), 0, 1, '7 passed, 1 failed'],
  ['verify failed', report(7, 0), 2, 0, '7 passed, 1 failed'],
  ['verify and a test failed', report(6, 1, [withFailure]), 2, 1, '6 passed, 2 failed'],
  ['an empty report', '', 0, 1, '0 passed, 1 failed'],
  ['a report cut short', report(7, 0).slice(0, -9), 0, 0, '0 passed, 1 failed'],
  ['a report of another kind', '{"ok":true}', 0, 0, '0 passed, 1 failed'],
  ['no test at all', report(0, 0), 0, 0, '0 passed, 1 failed'],
])('%s', (_, text, verifyCode, testCode, last) => {
  const summary = summarize({ report: text, verifyCode, testCode })
  expect(summary.lines.at(-1)).toBe(last)
  expect(summary.failed).toBe(Number(last.split(' ')[2]))
})
