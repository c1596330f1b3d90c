// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { mutants } from './all.ts'

test.each(mutants)('the mutant fits into $file: $name', async ({ file, text, replacement }) => {
  const source = await readFile(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), 'utf8')
  expect(source.split(text).length - 1, 'how often its text stands there').toBe(1)
  expect(replacement).not.toBe(text)
})

test('no two mutants have one name', () => {
  const names = mutants.map(({ name }) => name)
  expect(names).toEqual([...new Set(names)])
})
