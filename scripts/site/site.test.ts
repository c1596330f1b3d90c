// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { projectFiles, projectText } from '../law/project-files.ts'
import { sideBar } from './side-bar.ts'
import { pagePath, siteLink, treeOf } from './site-links.ts'

const tree = treeOf(['README.md', 'docs/README.md', 'docs/a.md', 'docs/b/c.md', 'x/y.yml'])
const repository = 'https://git.example.com/a/b'

test.each([
  ['docs/a.md', 'b/c.md#one', 'b/c.md#one'],
  ['docs/a.md', 'README.md', 'index.md'],
  ['docs/b/c.md', '../../README.md', '../../index.md'],
  ['README.md', 'docs', 'docs/index.md'],
  ['README.md', 'docs/b', `${repository}/tree/HEAD/docs/b`],
  ['docs/a.md', '../x/y.yml', `${repository}/blob/HEAD/x/y.yml`],
  ['docs/a.md', '#one', '#one'],
  ['docs/a.md', 'https://example.com/', 'https://example.com/'],
])('%s: a link to %s leads to %s', (page, href, expected) => {
  expect(siteLink(page, href, tree, repository)).toBe(expected)
})

test('a link to a file is none without the URL of the repository', () => {
  expect(siteLink('docs/a.md', '../x/y.yml', tree, undefined)).toBeNull()
})

test.each(['nothing.md', '../nothing', '../x/z.yml'])('a link to %s is an error', (href) => {
  expect(() => siteLink('docs/a.md', href, tree, repository)).toThrow('docs/a.md links to')
})

test('READMEs are index pages, other pages keep their names', () => {
  expect(['README.md', 'docs/README.md', 'docs/a.md'].map(pagePath)).toEqual([
    ...['index.md', 'docs/index.md', 'docs/a.md'],
  ])
})

test('the sidebar has the sections of the index page, and links that exist', () => {
  const index = projectText('docs/README.md')
  const files = projectFiles()
  const groups = sideBar(index, treeOf(files))
  expect(groups.map(({ text }) => text)).toEqual(
    [...index.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
  )
  const pages = new Set(files.map((path) => `/${pagePath(path)}`))
  for (const { link } of groups.flatMap(({ items }) => items)) expect(pages).toContain(link)
})
