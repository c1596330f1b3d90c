// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { z } from 'zod'

const reportSchema = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
})

/** The result of a CI run. `lines` are printed in order; the last one is the count. */
export interface Summary {
  readonly lines: readonly string[]
  readonly failed: number
}

/**
 * Counts a run from vitest's JSON report and the exit codes. Failures include test files that do
 * not load, a failed test process without a failed test, a missing report, and `verify`.
 */
export function summarize(run: {
  readonly report: string
  readonly verifyCode: number
  readonly testCode: number
}): Summary {
  const lines: string[] = []
  const counted = countTests(run.report, lines)
  let { failed } = counted
  if (run.testCode !== 0 && failed === 0) {
    lines.push(
      `make test ended with code ${run.testCode} although no test failed: counted as one failure`,
    )
    failed += 1
  }
  if (run.verifyCode !== 0) {
    lines.push(`make verify failed with code ${run.verifyCode}: counted as one failure`)
    failed += 1
  }
  lines.push(`${counted.passed} passed, ${failed} failed`)
  return { lines, failed }
}

function countTests(text: string, lines: string[]): { passed: number; failed: number } {
  const report = reportSchema.safeParse(jsonOrNull(text))
  if (!report.success) {
    lines.push('the tests left no readable report: counted as one failure')
    return { passed: 0, failed: 1 }
  }
  const { numPassedTests: passed, numFailedTests, testResults } = report.data
  const unloaded = testResults.filter(
    (file) =>
      file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'),
  )
  for (const file of unloaded) lines.push(`${file.name} failed outside its tests`)
  const failed = numFailedTests + unloaded.length
  if (passed + failed === 0) {
    lines.push('no test was run: counted as one failure')
    return { passed, failed: 1 }
  }
  return { passed, failed }
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
