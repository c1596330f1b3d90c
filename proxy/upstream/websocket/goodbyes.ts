// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Outgoing } from '../wire.ts'

/** A request to unsubscribe that is to be sent. */
export interface Goodbye {
  /** The node's id of what it ends; null where it has none. */
  readonly key: string | null
  readonly request: Outgoing
  /** Requests of lower ids were sent before. */
  readonly before: number
}

/**
 * Requests to unsubscribe that wait for answers to earlier requests to subscribe: one of them may
 * turn out to have the same id at the node, which then must not be ended.
 */
export class Goodbyes {
  #waiting: Goodbye[] = []

  add(goodbye: Goodbye): void {
    this.#waiting.push(goodbye)
  }

  /** Takes those that need not wait. @param oldest the first request to subscribe without an answer */
  due(oldest: number): readonly Goodbye[] {
    const due = this.#waiting.filter(({ before }) => before <= oldest)
    this.#waiting = this.#waiting.filter(({ before }) => before > oldest)
    return due
  }
}
