// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A part of a text, with the place where it begins. */
export interface TextPart {
  readonly text: string
  readonly offset: number
}

const token = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^\s"{}[\]]+|\S/g

/**
 * The JSON objects of a text that stand one after another with nothing between, as kubectl writes and takes them. A last
 * one that is not closed is one of them. Null when the text is something else.
 */
export function jsonObjects(text: string): readonly TextPart[] | null {
  const parts: TextPart[] = []
  let depth = 0
  let offset = 0
  for (const { 0: found, index } of text.matchAll(token)) {
    if (depth === 0) {
      if (found !== '{') return null
      offset = index
    }
    if (found === '{' || found === '[') depth += 1
    if (found === '}' || found === ']') depth -= 1
    if (depth === 0) parts.push({ text: text.slice(offset, index + 1), offset })
  }
  if (depth > 0) parts.push({ text: text.slice(offset), offset })
  return parts
}
