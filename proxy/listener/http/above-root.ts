// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Dots, plain or percent-encoded, the encoding itself encoded or not. Most paths have no two in a row. */
const twoDots = /(?:\.|%(?:25)*2e){2}/i
/** `..`, also with what servers drop behind it: parameters (`..;a`), white space, whatever is encoded. */
const parent = /^\.\.(?:$|[;%#\s])/

/**
 * Whether the dot segments of a path may lead out of the root: then a node's server could answer from
 * beside the base path of its URL, with the router's keys. Servers differ in what they take for a
 * separator and for dots, so whatever one of them may understand counts, and only plain segments lead down.
 */
export function leadsAboveRoot(path: string): boolean {
  if (!twoDots.test(path)) return false
  const decoded = path.replace(/%(?:25)*2e/gi, '.').replace(/%(?:25)*(?:2f|5c)/gi, '\\')
  let depth = 0
  for (const segment of decoded.split('/')) {
    const parts = segment.split('\\')
    const ups = parts.filter((part) => parent.test(part)).length
    if (ups > 0) depth -= ups
    else if (parts.some((part) => part !== '' && part !== '.')) depth += 1
    if (depth < 0) return true
  }
  return false
}

export const aboveRootMessage =
  'the dot segments of the path lead above the root of the node, where its URL does not reach'
