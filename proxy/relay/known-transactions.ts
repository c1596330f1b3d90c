// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from './call.ts'
import { nameOfSent } from '../integrity/sent.ts'
import type { Reply } from './reply.ts'

/** Of the last successes, oldest first; at some 100 bytes each. */
const mostRemembered = 4_096

/** What a write says of the transaction that it sends. */
export interface SentTransaction {
  readonly hash: string
  /** What a node answers that takes it: a template with `%s` for the hash. */
  readonly answer: unknown
}

/** What the call sends; null where that cannot be read. */
export function sentBy({ asked }: Call): SentTransaction | null {
  for (const { rule, wanted } of asked.checks) {
    // Where a result holds more than the hash, it cannot be made up.
    if (rule.check !== 'sent' || (rule.result && rule.answer === undefined)) continue
    const hash = nameOfSent(rule.digest, wanted)
    return hash === null ? null : { hash, answer: rule.answer ?? '%s' }
  }
  return null
}

/**
 * Transactions that a node accepted lately. A client that lost the answer sends its transaction again,
 * and the nodes say that they have it, or that its nonce is used: its hash is the better answer.
 */
export class KnownTransactions {
  readonly #hashes = new Set<string>()

  accepted({ hash }: SentTransaction): void {
    this.#hashes.delete(hash)
    this.#hashes.add(hash)
    if (this.#hashes.size <= mostRemembered) return
    for (const oldest of this.#hashes) {
      this.#hashes.delete(oldest)
      return
    }
  }

  /** A success in place of a refusal, where the transaction is known to be accepted; else null. */
  successFor(call: Call, sent: SentTransaction, reply: Reply): Reply | null {
    const { refusal } = reply
    const mayBeKnown = refusal?.transaction === 'known' || refusal?.transaction === 'used'
    if (!mayBeKnown || !this.#hashes.has(sent.hash)) return null
    const incoming = {
      status: 200,
      headers: ['content-type', 'application/json'],
      body: call.reader.write(filled(sent.answer, sent.hash)),
      trailers: () => [],
    }
    return { ...reply, incoming, refusal: null }
  }
}

function filled(template: unknown, hash: string): unknown {
  if (template === '%s') return hash
  if (typeof template !== 'object' || template === null) return template
  const members = Object.entries(template)
  return Object.fromEntries(members.map(([name, value]) => [name, filled(value, hash)]))
}
