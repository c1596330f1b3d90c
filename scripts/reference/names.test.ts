// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { series as operatorSeries } from '../../operator/cli/series.ts'
import { directiveHeaders } from '../../proxy/listener/directives.ts'
import { metadataHeaders } from '../../proxy/listener/headers.ts'
import { series } from '../../proxy/telemetry/series.ts'
import { projectFiles, projectText } from '../law/project-files.ts'
import { configKeys, fieldOf, fields, letters, reasonOf, table } from './names.ts'

const allSeries: readonly { name: string; labels: readonly string[] }[] = [
  ...Object.values(series),
  ...Object.values(operatorSeries),
]
const surfaces: Readonly<Record<string, ReadonlySet<string>>> = {
  config: new Set(configKeys),
  field: new Set(fields),
  header: new Set([...Object.values(directiveHeaders), ...Object.values(metadataHeaders)]),
  metric: new Set(allSeries.flatMap(({ name, labels }) => [name, ...labels.map((l) => `{${l}}`)])),
  log: logFields(),
}

/** Keys of the objects in the files that write most lines, and in calls of a logger elsewhere. */
function logFields(): ReadonlySet<string> {
  const names = new Set<string>()
  const sources = projectFiles().filter((path) =>
    /^(proxy|operator)\/.*(?<!\.test)\.ts$/.test(path),
  )
  for (const path of sources) {
    const text = projectText(path)
    const isLog = /\/(event-log|cli\/log)\.ts$/.test(path)
    if (!isLog && !text.includes('logger.')) continue
    const add = ({ properties }: { properties: readonly object[] }) => {
      for (const each of properties as readonly { type: string; key: { name?: string } }[])
        if (each.type === 'Property' && each.key.name !== undefined) names.add(each.key.name)
    }
    new Visitor({
      ObjectExpression: (node) => isLog && add(node),
      CallExpression(node) {
        if (
          !/^logger\.(debug|info|warn|error)$/.test(text.slice(node.callee.start, node.callee.end))
        )
          return
        for (const each of node.arguments) if (each.type === 'ObjectExpression') add(each)
      },
    }).visit(parseSync(path, text).program)
  }
  return names
}

const last = (path: string) => path.split(/[. ]/).at(-1)!
const wordsOf = (name: string) =>
  last(name)
    .replaceAll(/[A-Z]/g, (letter) => `-${letter}`)
    .split(/[^\p{L}\d]+/u)
    .map(letters)
const agree = (key: string, field: string) =>
  wordsOf(key).every((word) => letters(field).includes(word)) &&
  wordsOf(field).every((word) => letters(key).includes(word))

test('every key of the config has a field, or is known to have none', () => {
  const found = configKeys.map((key) => [key, fieldOf(key)] as const)
  expect(found.filter(([, field]) => field === undefined)).toEqual([])
  expect(found.filter(([, field]) => field && !surfaces['field']!.has(field))).toEqual([])
})

test('a key and its field have the same words', () => {
  const differ = configKeys.filter((key) => {
    const field = fieldOf(key)
    return field && !agree(key, field) && reasonOf(key) === undefined
  })
  expect(differ.map((key) => `${key} ${fieldOf(key)}`)).toEqual([])
})

test.each(Object.entries(table.concepts))(
  'every name of %s exists, with its word',
  (word, names) => {
    for (const [surface, name] of Object.entries(names)) {
      expect(surfaces[surface], surface).toContain(name)
      const stem = letters(word).replace(/y$/, '')
      if (reasonOf(name) === undefined) expect(letters(name)).toContain(stem)
    }
  },
)

test('no name on any surface has a second word', () => {
  const patterns = Object.entries(table['second-words'])
  const found = Object.entries(surfaces).flatMap(([surface, names]) =>
    [...names].flatMap((name) => {
      const own = surface === 'config' || surface === 'field' ? last(name) : name
      const [word] = patterns.find(([, second]) => new RegExp(second, 'i').test(letters(own))) ?? []
      return word === undefined || reasonOf(name) !== undefined
        ? []
        : [`${surface} ${name}: ${word}`]
    }),
  )
  expect(found).toEqual([])
})

test('each allowed difference is of a name that exists', () => {
  const all = new Set(Object.values(surfaces).flatMap((names) => [...names]))
  const listed = Object.values(table.differences).flat()
  expect(listed.filter((name) => !all.has(name))).toEqual([])
})
