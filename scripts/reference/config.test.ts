// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { parseConfig } from '../../proxy/config/parse.ts'
import { projectText } from '../law/project-files.ts'
import { render } from './config.ts'

test('the example of the reference is valid', () => {
  const environment = { ALPHA_KEY: 'a', BETA_TOKEN: 'b', BETA_KEY: 'c' }
  const [, example = ''] = /```yaml\n([^]*?)```/.exec(projectText('docs/reference/config.md')) ?? []
  const { problems } = parseConfig(example, { environment, flags: {} })
  expect(problems.filter(({ severity }) => severity !== 'warning')).toEqual([])
})

test('the reference has the type of every key', () => {
  const rows = render()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(50)
  for (const row of rows) expect(row).toMatch(/^\| `[a-z-]+` \| [^|]/)
})
