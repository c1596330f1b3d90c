// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeCall } from '../../chain/types.ts'
import type { Dialect, Said, WholeAnswer } from '../dialect.ts'
import { isPartial } from '../whole-answer.ts'
import { header } from '../wire.ts'
import { parseJson, valueBelow } from './json-value.ts'
import { restError } from './rest-error.ts'

const accept = ['accept', 'application/json']

/** JSON over HTTP, where the status says whether it is an error. */
export const restDialect: Dialect = {
  ask: ({ verb, path, body }: ProbeCall) => ({
    verb,
    path,
    headers: body === null ? accept : [...accept, 'content-type', 'application/json'],
    body: body === null ? null : Buffer.from(body),
  }),
  read(answer: WholeAnswer): Said {
    const { status, headers, body } = answer
    const error = restError(status, body)
    if (error) return { kind: 'error', error }
    if (status >= 400) return { kind: 'malformed', why: `HTTP ${status} without a JSON answer` }
    // Nobody asked for a part.
    if (isPartial(answer)) return { kind: 'malformed', why: `HTTP ${status}` }
    let document: { readonly value: unknown } | null = null
    return {
      kind: 'answer',
      at(place) {
        if (place.header !== undefined) return header(headers, place.header) ?? undefined
        document ??= { value: parseJson(body) }
        return valueBelow(document.value, place.path)
      },
    }
  },
}
