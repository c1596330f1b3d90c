// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** What an exchange reveals about the cause of its failure. */
export interface Evidence {
  readonly httpStatus: number | null
  /** Code of the node's error, on JSON-RPC or gRPC. */
  readonly code: number | null
  /** Words of the node or of the transport: masked, printable and short. */
  readonly detail: string | null
}

const maxWordsLength = 160

/** `HTTP 429, code -32005: daily request count exceeded`; null without evidence. */
export function evidenceOf({ httpStatus, code, detail }: Evidence): string | null {
  const codes = [
    httpStatus === null || httpStatus === 200 ? '' : `HTTP ${httpStatus}`,
    code ? `code ${code}` : '',
  ]
  return [codes.filter(Boolean).join(', '), detail ?? ''].filter(Boolean).join(': ') || null
}

/** The reason of a failure as every surface words it: `http-rate-limited (HTTP 429: busy)`. */
export function reasonOf({ name }: { readonly name: string }, evidence: Evidence): string {
  const shown = evidenceOf(evidence)
  return shown === null ? name : `${name} (${shown})`
}

/** Prints a node's words, shortened. Callers mask keys first: a truncated key matches no more. */
export function quoteOf(words: string, maxLength = maxWordsLength): string {
  const short = words.length > maxLength ? `${words.slice(0, maxLength)}...` : words
  return short.replaceAll(/\s+/g, ' ').replaceAll(/[^\x20-\x7e]/g, '?')
}

/** Longer pages are not quoted. */
const maxPageBytes = 64 * 1024
/** Tags that may stand inside a word, and thus inside a key. */
const inlineTags = /<\/?(?:wbr|b|i|u|em|strong|span|code|a)\b[^>]*>/gi

/**
 * The words of a page, such as a gateway's error.
 * @param mask masks keys, in the whole page and in its text without tags
 */
export function pageWordsOf(page: Uint8Array, mask: (text: string) => string): string {
  if (page.length > maxPageBytes) return ''
  const start = mask(Buffer.from(page).toString('latin1')).slice(0, 4_096)
  const text = start
    .replaceAll(/<(style|script|title)[^]*?<\/\1>/gi, ' ')
    .replaceAll(inlineTags, '')
    .replaceAll(/<[^>]*>/g, ' ')
  return quoteOf(mask(text.replaceAll(/\s+/g, ' ').trim()))
}
