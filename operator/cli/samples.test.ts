// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { main } from './main.ts'

const folder = join(import.meta.dirname, '../../samples')
const routers = readdirSync(folder)
  .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
  .filter(([, text]) => /^kind: RpcRouter$/m.test(text))

test.each(routers)('%s is valid, or says that it is unsupported', async (name, text) => {
  const output: string[] = []
  const sink = { write: (words: string) => output.push(words) }
  const code = await main(['validate', '-f', join(folder, name)], {
    stdin: (async function* () {})(),
    stdout: sink,
    stderr: sink,
    environment: {},
  })
  expect(parseAllDocuments(text).flatMap((each) => each.errors)).toEqual([])
  const isMissing = text.includes('Not in this version of the router yet')
  expect({ code, isMissing }).toEqual(isMissing ? { code: 2, isMissing } : { code: 0, isMissing })
  if (isMissing) expect(output.join('')).toContain('is not supported by this version')
})
