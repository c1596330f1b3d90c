// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** A part of a text of the router's config: what stands there, or a variable whose value will. */
export type Piece = { readonly literal: string } | { readonly variable: string }

/**
 * Writes a text so that the router reads the literals as they are, whatever is in them, and fills in the variables.
 *
 * @returns null for what the syntax of the router cannot say: a variable right behind `$`, or between `$<` and `>`
 */
export function configText(pieces: readonly Piece[]): string | null {
  let written = ''
  let pending = ''
  for (const piece of pieces) {
    if ('literal' in piece) {
      pending += piece.literal
      continue
    }
    if (/\$(?:<[^<>]*)?$/.test(pending)) return null
    written += `${escape(pending)}\${${piece.variable}}`
    pending = ''
  }
  return written + escape(pending)
}

/** What the router would take for a placeholder, or for the beginning of one. */
const opening = /\$(?:\{[^{}]*\}|<[^<>]*>|[{<])/g

/** A second dollar makes it literal, to its end. */
function escape(text: string): string {
  return text.replaceAll(opening, (match) => `$${match}`)
}
