// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError } from '../relay/errors.ts'

/** The node answered a question of the router's own with an error of its own. */
export class NodeError extends Error {
  override readonly name = 'NodeError'
}

/** The chain does not lead from what was told to what was sighted, as far as anybody tells. */
export class Unconnected extends Error {
  override readonly name = 'Unconnected'
}

/** More was missed than is made up for. */
export class GapTooLarge extends Error {
  override readonly name = 'GapTooLarge'
}

/** What may well go otherwise when it is asked again. */
export function mayPass(error: unknown): error is RelayError | NodeError | Unconnected {
  return error instanceof RelayError || error instanceof NodeError || error instanceof Unconnected
}
