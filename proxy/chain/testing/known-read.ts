// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { AskedMethod } from '../failure-table.ts'

/** A read that the spec names. */
export function knownRead(method: string): AskedMethod {
  return { method, known: true, kind: 'read' }
}
