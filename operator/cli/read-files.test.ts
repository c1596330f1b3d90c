// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFiles } from './validate.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rpc-operator-'))
})

afterEach(() => rm(folder, { recursive: true }))

/** Creates files that contain their own name, and links: `a -> b`. */
async function create(...entries: readonly string[]) {
  for (const entry of entries) {
    const [name = '', target] = entry.split(' -> ')
    const path = join(folder, name)
    await mkdir(dirname(path), { recursive: true })
    await (target === undefined ? writeFile(path, name) : symlink(target, path))
  }
}

/** Returns the files that were read, as `name: text`. */
async function read(...paths: readonly string[]): Promise<readonly string[]> {
  const stdin = (async function* () {
    yield 'words'
  })()
  const texts = await readFiles(
    paths.map((path) => (path === '-' ? path : join(folder, path))),
    stdin,
  )
  return texts.map(({ name, text }) => `${relative(folder, name)}: ${text}`)
}

test.each<[string, readonly string[], readonly string[], readonly string[]]>([
  [
    'a directory with subdirectories',
    ['b.yml', 'a.yaml', 'c/d.json', 'e.txt'],
    ['.'],
    ['a.yaml: a.yaml', 'b.yml: b.yml', 'c/d.json: c/d.json'],
  ],
  ['a file of any name', ['e.txt'], ['e.txt'], ['e.txt: e.txt']],
  [
    'a mounted ConfigMap',
    ['..2026_01_31/a.yaml', '..data -> ..2026_01_31', 'a.yaml -> ..data/a.yaml'],
    ['.'],
    ['a.yaml: ..2026_01_31/a.yaml'],
  ],
  [
    'the data directory of a mounted ConfigMap',
    ['..2026_01_31/a.yaml', '..data -> ..2026_01_31'],
    ['..data'],
    ['..data/a.yaml: ..2026_01_31/a.yaml'],
  ],
  ['a link to a parent directory', ['a.yaml', 'loop -> .'], ['.'], ['a.yaml: a.yaml']],
  [
    'a link to a directory with the name of a file',
    ['x/a.yaml', 'b.yaml -> x'],
    ['.'],
    ['x/a.yaml: x/a.yaml'],
  ],
  [
    'a link to a directory elsewhere',
    ['in/a.yaml', 'out/b.yaml', 'in/out -> ../out'],
    ['in'],
    ['in/a.yaml: in/a.yaml'],
  ],
  [
    'a link to a file elsewhere',
    ['out/b.yaml', 'in/c.yaml -> ../out/b.yaml'],
    ['in'],
    ['in/c.yaml: out/b.yaml'],
  ],
  ['a file by two names', ['a.yaml', 'b.yaml -> a.yaml'], ['.'], ['a.yaml: a.yaml']],
  ['a file that is given twice', ['a.yaml'], ['a.yaml', './a.yaml', '.'], ['a.yaml: a.yaml']],
  [
    'a directory with the name of a file',
    ['a.yaml/b.yaml'],
    ['.'],
    ['a.yaml/b.yaml: a.yaml/b.yaml'],
  ],
])('%s', async (_, entries, paths, texts) => {
  await create(...entries)
  expect(await read(...paths)).toEqual(texts)
})

test('standard input among files', async () => {
  await create('a.yaml')
  expect((await read('-', 'a.yaml')).map((each) => each.replace(/.*: /, ''))).toEqual([
    'words',
    'a.yaml',
  ])
})

test.each([
  ['a missing file', [], ['a.yaml']],
  ['a broken link', ['a.yaml -> b.yaml'], ['.']],
])('%s is reported', async (_, entries, paths) => {
  await create(...entries)
  await expect(read(...paths)).rejects.toThrow(`${join(folder, 'a.yaml')}: there is no such file`)
})
