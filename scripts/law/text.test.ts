// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { checkLinks } from './check-links.ts'
import { checkWords } from './check-names.ts'
import { checkText } from './check-text.ts'
import { projectFiles, projectText } from './project-files.ts'

const paths = projectFiles()
const texts = new Map(
  paths
    .map((path) => [path, projectText(path)] as const)
    .filter(([, text]) => !text.includes('\0')),
)

test("no file has traces of its author's machine", () => {
  expect(texts.size).toBeGreaterThan(0)
  const found = [...texts].flatMap(([path, text]) => checkText(path, text))
  expect(found.filter((each) => !each.startsWith('scripts/law/text.test.ts:'))).toEqual([])
})

test('pages and comments use the words of the field, and comments fit into 100 columns', () => {
  const written = [...texts].filter(([path]) => /\.(?:md|sh|tsx?)$|(?:Make|Docker)file$/.test(path))
  expect(written.flatMap(([path, text]) => checkWords(path, text))).toEqual([])
})

test.each([
  ['a.md', 'Somebody asks.', 'an upstream, a node'],
  ['a.md', 'It was held off\nfor a second.', 'cooldown'],
  ['a.ts', '  // Told by the node.', 'reported'],
  ['a.ts', ' * A look at all upstreams, in order to rank them.', 'plain word'],
  ['Makefile', '# The judge of a run.', 'validate'],
  ['a.ts', `  /** ${'x'.repeat(95)} */`, '100 columns'],
])('in %s, %s gets a remedy', (path, line, remedy) => {
  expect(checkWords(path, `\n${line}\n`)).toEqual([expect.stringContaining(remedy)])
})

test.each([
  ['a.md', '`in order to` and\n\n```text\nin order to\n```'],
  ['a.ts', "const told = 'in order to'"],
  ['a.ts', `const a = '${'x'.repeat(95)}'`],
  ['a.ts', '  #told = 1'],
  ['a.md', 'x'.repeat(140)],
])('in %s, %s is allowed', (path, text) => {
  expect(checkWords(path, text)).toEqual([])
})

test('every link between pages has a target', () => {
  const isThere = (path: string) =>
    texts.get(path) ??
    // Targets may be pictures and folders.
    (paths.some((each) => each === path || each.startsWith(`${path.replace(/\/$/, '')}/`))
      ? ''
      : null)
  const pages = [...texts].filter(([path]) => path.endsWith('.md'))
  expect(pages.flatMap(([path, text]) => checkLinks(path, text, isThere))).toEqual([])
})

test.each([
  ['see /home/ann/project/a.ts', '/home/ann'],
  ['cd /work/project', '/work/project'],
  ['"file:///Users/ann/a"', '/Users/ann'],
  ['at (/root/.npmrc)', '/root/.npmrc'],
  ['"resolved": "https://registry.example.org/x.tgz"', 'https://registry.example.org'],
  ['http://nexus.example.org/npm', 'http://nexus.example.org'],
])('a trace is found: %s', (text, trace) => {
  expect(checkText('docs/a.md', `first line\n${text}\n`)).toEqual([
    expect.stringMatching(new RegExp(`^docs/a\\.md:2 ${trace}`)),
  ])
})

test.each([
  'https://example.org/home/page',
  '$HOME/project',
  '~/work/a',
  '${base}/work/a',
  'proxy/work/a',
  'a container image registry',
  '/etc/router/config.yml',
])('no trace: %s', (text) => {
  expect(checkText('docs/a.md', text)).toEqual([])
})

const page = `# First page

[self](#first-page) [there](b.md) [heading](b.md#a-flag---x) [folder](../examples) [web](https://example.org)

\`\`\`
[code](nowhere.md)
\`\`\`
`

test('links are checked for the file and the heading', () => {
  const files: Record<string, string> = { 'docs/b.md': '## A flag: `--x`\n', examples: '' }
  const textOf = (path: string) => files[path] ?? null
  expect(checkLinks('docs/a.md', page, textOf)).toEqual([])
  expect(checkLinks('docs/a.md', '[x](c.md) [y](b.md#other) [z](#none)', textOf)).toEqual([
    'docs/a.md links to c.md: there is no docs/c.md.',
    'docs/a.md links to b.md#other: docs/b.md has no heading of that name.',
    'docs/a.md links to #none: docs/a.md has no heading of that name.',
  ])
})
