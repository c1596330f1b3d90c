// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { summarize } from './ci/summarize.ts'

// node scripts/ci-summary.ts <vitest's JSON report> <exit code of verify> <exit code of the tests>

const [report = '', verifyCode, testCode] = process.argv.slice(2)
const { lines, failed } = summarize({
  report: readFileSync(report, 'utf8'),
  verifyCode: Number(verifyCode),
  testCode: Number(testCode),
})
for (const line of lines) console.log(line)
process.exitCode = failed === 0 ? 0 : 1
