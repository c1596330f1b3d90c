// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A place in the document: keys of maps and indexes of lists. */
export type Path = readonly (string | number)[]

/** Writes `endpoints[0].chain-id`; a key that would not read well is quoted. */
export function formatPath(path: Path): string {
  let text = ''
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`
    else if (!/^[A-Za-z0-9_-]{1,80}$/.test(part)) text += `[${quote(part)}]`
    else text += text === '' ? part : `.${part}`
  }
  return text
}

const longest = 60

/** A text of the file as a message shows it: quoted, on one line, never long. */
export function quote(text: string): string {
  const shown = text.length > longest ? `${text.slice(0, longest)}…` : text
  return `"${shown.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, '\uFFFD')}"`
}
