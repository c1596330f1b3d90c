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

/** A node's words, printable and short. Keys are masked before, since a cut key is not found. */
export function quoteOf(words: string, maxLength = maxWordsLength): string {
  const short = words.length > maxLength ? `${words.slice(0, maxLength)}...` : words
  return short.replaceAll(/\s+/g, ' ').replaceAll(/[^\x20-\x7e]/g, '?')
}

/** The text of a page, such as a gateway's error, without its tags. */
export function textOf(page: Uint8Array): string {
  const start = Buffer.from(page.subarray(0, 1_024)).toString('latin1')
  const plain = start.replaceAll(/<(style|script|title)[^]*?<\/\1>|<[^>]*>/gi, ' ')
  return plain.replaceAll(/\s+/g, ' ').trim()
}
