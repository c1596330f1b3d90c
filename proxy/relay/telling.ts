// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Reply } from './reply.ts'

/**
 * How much an upstream's reply tells the client, the higher the better: nothing, an error page, a
 * limit of the provider, trouble of the upstream's own, an error that another node might not have,
 * the node's own answer, what is wrong with the transaction, that the transaction is known, an
 * answer after all.
 */
export function telling(reply: Reply | null): number {
  if (reply === null) return 0
  const { refusal, incoming } = reply
  if (refusal === null) return incoming.status < 300 ? 8 : 1
  if (refusal.transaction === 'known') return 7
  if (refusal.transaction === 'refused') return 6
  if (refusal.holdOff) return 2
  if (refusal.weight > 0) return 3
  return refusal.retry ? 4 : 5
}
