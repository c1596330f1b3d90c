// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeCall, ResultPath } from '../../chain/types.ts'
import type { Dialect, Said, WholeAnswer } from '../dialect.ts'
import { mayBeWhole } from '../whole-answer.ts'
import { errorWords } from './error-words.ts'
import { parseJson, valueBelow } from './json-value.ts'

const headers = ['content-type', 'application/json', 'accept', 'application/json']

interface Document {
  readonly result?: unknown
  readonly error?: ErrorMember | null
}

interface ErrorMember {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
}

/** JSON-RPC 1.0 and 2.0, and Tendermint RPC, which answers in the same form. */
export const jsonRpcDialect: Dialect = {
  ask: ({ verb, path, body }: ProbeCall) => ({
    verb,
    path,
    headers,
    body: body === null ? null : Buffer.from(body),
  }),
  read({ status, body }: WholeAnswer): Said {
    if (status < 400 && !mayBeWhole(status)) return { kind: 'malformed', why: `HTTP ${status}` }
    const document = parseJson(body) as Document | null | undefined
    if (document === undefined)
      return { kind: 'malformed', why: `HTTP ${status} without a JSON answer` }
    if (document?.error) {
      const code = Number(document.error.code)
      const { message, data } = document.error
      return {
        kind: 'error',
        error: {
          status,
          code: Number.isSafeInteger(code) ? code : null,
          message: errorWords(code, String(message), data),
        },
      }
    }
    if (status >= 400) return { kind: 'malformed', why: `HTTP ${status}` }
    return { kind: 'answer', at: ({ path }: ResultPath) => valueBelow(document?.result, path) }
  },
}
