// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { NodeError } from '../../chain/failure-table.ts'
import { parseJson } from './json-value.ts'

/** What an error's body may say; nodes of different families use different members. */
interface ErrorBody {
  readonly code?: unknown
  readonly message?: unknown
  readonly error?: unknown
  readonly error_code?: unknown
}

/** A node's error in its own words; null when the answer is none, or says nothing in JSON. */
export function restError(status: number, body: Uint8Array): NodeError | null {
  if (status < 400) return null
  const document = parseJson(body) as ErrorBody | null | undefined
  if (typeof document !== 'object' || document === null) return null
  const { code, message, error, error_code: errorCode } = document
  const words = [message, error, errorCode].filter((each) => typeof each === 'string')
  if (words.length === 0) return null
  return { status, code: typeof code === 'number' ? code : null, message: words.join(': ') }
}
