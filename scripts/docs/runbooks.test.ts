// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { eventReasons } from '../../operator/api/events.ts'
import { projectFiles, projectText } from '../law/project-files.ts'

const runbooks = projectFiles()
  .filter((path) => /^docs\/runbooks\/(?!README).*\.md$/.test(path))
  .map((path) => ({ path, text: projectText(path) }))

const warnings = Object.entries(eventReasons).filter(([, { type }]) => type === 'Warning')

test('each operator warning has a runbook, and each such runbook has a warning', () => {
  const warned = warnings.map(([reason]) => reason)
  const described = runbooks
    .filter(({ text }) => /^Event on an .*, warning\./m.test(text))
    .map(({ text }) => /^# (\w+)$/m.exec(text)?.[1])
  expect(new Set(described)).toEqual(new Set(warned))
})

test.each(runbooks.map(({ path, text }) => [path, text]))('%s ends in a decision', (_, text) => {
  const [, decision] = /\n## Decide\n\n(.+)\n$/s.exec(text) ?? []
  expect(decision).toMatch(/^If .*\bOtherwise, /s)
})

test.each(warnings)('the runbook of %s lists the kinds of the event', (reason, event) => {
  const text = runbooks.find((runbook) => runbook.text.startsWith(`# ${reason}\n`))?.text
  const about = event.of.map((kind) => `an ${kind}`).join(' or ')
  expect(text).toContain(`Event on ${about}, warning.`)
})
