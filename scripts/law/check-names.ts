// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parse } from 'yaml'
import type { Violation } from './check-source.ts'
import { withoutCode } from './check-links.ts'
import { projectText } from './project-files.ts'
import { namedAfterKinds } from './table.ts'

const kebabCase = /^\.?[a-z0-9]+([.-][a-z0-9]+)*$/
const words = parse(projectText('scripts/law/words.yml')) as {
  readonly names: readonly string[]
  readonly prose: Readonly<Record<string, string>>
}
const inProse = Object.entries(words.prose).map(
  ([better, pattern]) => [better, new RegExp(`\\b(?:${pattern})(?!\\w)`, 'i')] as const,
)
const comment = /^\s*(?:\/\/|\/?\*|# )/
const mostColumns = 100

/** The violations in the path of a source file. */
export function checkName(path: string): Violation[] {
  return path.split('/').flatMap((part) => {
    if (!kebabCase.test(part)) return [`${path}: ${part} is not in kebab-case.`]
    const empty = part.split(/[.-]/).find((word) => words.names.includes(word))
    if (empty === undefined || namedAfterKinds.includes(path)) return []
    return [`${path}: "${empty}" says nothing. Name it after the one thing that is inside.`]
  })
}

/** The violations in the words of a page, or in the comment lines of a source file. */
export function checkWords(path: string, text: string): Violation[] {
  const isPage = path.endsWith('.md')
  const lines = (isPage ? withoutCode(text) : text).split('\n')
  return lines.flatMap((line) => {
    if (!isPage && !comment.test(line)) return []
    const place = `${path}: ${line.trim()}`
    const long = !isPage && line.length > mostColumns
    return [
      ...(long ? [`${place}\nis longer than ${mostColumns} columns. Wrap it, or say less.`] : []),
      ...inProse.flatMap(([better, pattern]) => {
        const word = pattern.exec(line)?.[0]
        return word === undefined ? [] : [`${place}\nsays "${word}". Say: ${better}.`]
      }),
    ]
  })
}
