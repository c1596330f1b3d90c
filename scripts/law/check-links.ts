// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { posix } from 'node:path'
import type { Violation } from './check-source.ts'

/** The broken links of a markdown file. `textOf` returns null if there is no such file. */
export function checkLinks(
  path: string,
  markdown: string,
  textOf: (path: string) => string | null,
): Violation[] {
  const links = [...withoutCode(markdown).matchAll(/\]\((?<target>[^()\s]+)\)/g)]
  return links.flatMap(({ groups }) => {
    const target = groups?.['target'] ?? ''
    if (/^[a-z]+:/.test(target)) return []
    const [file = '', anchor] = target.split('#')
    const linked = file === '' ? path : posix.join(posix.dirname(path), file)
    const text = file === '' ? markdown : textOf(linked)
    if (text === null) return [`${path} links to ${target}: there is no ${linked}.`]
    if (anchor === undefined || anchorsOf(text).includes(anchor)) return []
    return [`${path} links to ${target}: ${linked} has no heading of that name.`]
  })
}

export function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '')
}

function anchorsOf(markdown: string): string[] {
  const prose = markdown.replaceAll(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

/** Anchor of a heading on common hosts: lower case, dashes for spaces, no punctuation. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}
