// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { checkCircles } from './check-circles.ts'
import { parseSource } from './source.ts'

const importing = (path: string, specifier: string) =>
  parseSource(path, `import { a } from '${specifier}'\n`)

test('two folders that import each other are reported with the files that do', () => {
  const found = checkCircles([
    importing('proxy/relay/a/one.ts', '../b/two.ts'),
    importing('proxy/relay/b/two.ts', '../a/one.ts'),
  ])
  expect(found).toEqual([
    'proxy/relay/a -> proxy/relay/b -> proxy/relay/a is a circle (proxy/relay/a/one.ts, proxy/relay/b/two.ts). Move what both need to where both may import it.',
  ])
})

test('an indirect circle is reported once', () => {
  const found = checkCircles([
    importing('proxy/relay/c/1.ts', '../a/1.ts'),
    importing('proxy/relay/a/1.ts', '../b/1.ts'),
    importing('proxy/relay/b/1.ts', '../c/1.ts'),
  ])
  expect(found).toHaveLength(1)
  expect(found[0]).toContain('proxy/relay/a -> proxy/relay/b -> proxy/relay/c -> proxy/relay/a')
})

test.each([
  ['one way', 'proxy/relay/a/1.ts', '../b/1.ts', 'proxy/relay/b/1.ts', './2.ts'],
  ['a folder and its own', 'proxy/relay/1.ts', './a/1.ts', 'proxy/relay/a/1.ts', '../1.ts'],
  ['a test', 'proxy/relay/a/1.test.ts', '../b/1.ts', 'proxy/relay/b/1.ts', '../a/2.ts'],
])('%s is none', (_, one, itsImport, two, theOther) => {
  expect(checkCircles([importing(one, itsImport), importing(two, theOther)])).toEqual([])
})
