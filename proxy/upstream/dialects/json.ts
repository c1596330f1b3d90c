// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../../chain/failure-table.ts'
import type { ProbeCall } from '../../chain/types.ts'
import { parseJson } from '../../json/text.ts'
import type { Dialect, Said, WholeAnswer } from '../dialect.ts'
import { header, isPartial, mayBeWhole, type HeaderList, type Outgoing } from '../wire.ts'

const accept: HeaderList = ['accept', 'application/json']
const headers: HeaderList = ['content-type', 'application/json', ...accept]
const internalError = -32603

function ask({ verb, path, body }: ProbeCall): Outgoing {
  if (body === null) return { verb, path, headers: accept, body }
  return { verb, path, headers, body: Buffer.from(body) }
}

/** JSON-RPC 1.0 and 2.0, and Tendermint RPC, which answers in the same form. */
export const jsonRpcDialect: Dialect = {
  ask,
  read({ status, body }: WholeAnswer): Said {
    if (status < 400 && !mayBeWhole(status)) return malformed(status)
    const document = parseJson(body) as { result?: unknown; error?: ErrorBody | null } | null
    if (document === undefined) return malformed(status, ' without a JSON answer')
    if (document?.error) {
      const { code: given, message, data } = document.error
      const code = Number(given)
      const error = {
        status,
        code: Number.isSafeInteger(code) ? code : null,
        message: errorWords(code, String(message), data),
      }
      return { kind: 'error', error }
    }
    if (status >= 400) return malformed(status)
    return { kind: 'answer', at: ({ path }) => valueBelow(document?.result, path) }
  },
}

/** JSON over HTTP, where the status says whether it is an error. */
export const restDialect: Dialect = {
  ask,
  read(answer: WholeAnswer): Said {
    const { status, headers: given, body } = answer
    const error = restError(status, body)
    if (error) return { kind: 'error', error }
    if (status >= 400) return malformed(status, ' without a JSON answer')
    // Nobody asked for a part.
    if (isPartial(answer)) return malformed(status)
    return {
      kind: 'answer',
      at: ({ header: name, path }) =>
        name === undefined ? valueBelow(parseJson(body), path) : (header(given, name) ?? undefined),
    }
  },
}

/** What an error may say; nodes of different families use different members. */
interface ErrorBody {
  readonly code?: unknown
  readonly message?: unknown
  readonly data?: unknown
  readonly error?: unknown
  readonly error_code?: unknown
}

/**
 * What a JSON-RPC error says. Nodes of the Cosmos family call all of their errors `Internal error`,
 * and tell in `data` which it is.
 */
export function errorWords(code: number, message: string, data: unknown): string {
  const isInData = code === internalError && typeof data === 'string' && data !== ''
  return isInData ? `${message}: ${data}` : message
}

/** A node's error in its own words; null when the answer is none, or says nothing in JSON. */
export function restError(status: number, body: Uint8Array): NodeError | null {
  if (status < 400) return null
  const { code, message, error, error_code } = (parseJson(body) ?? {}) as ErrorBody
  const words = [message, error, error_code].filter((each) => typeof each === 'string')
  if (words.length === 0) return null
  return { status, code: typeof code === 'number' ? code : null, message: words.join(': ') }
}

function malformed(status: number, how = ''): Said {
  return { kind: 'malformed', why: `HTTP ${status}${how}` }
}

/** Follows keys and indexes. @returns undefined when there is nothing at their end */
function valueBelow(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root
  for (const key of path)
    value = (value as Record<string | number, unknown> | null | undefined)?.[key]
  return value
}
