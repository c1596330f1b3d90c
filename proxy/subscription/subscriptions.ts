// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../relay/call.ts'
import type { Topic } from './topic.ts'

/** One client that hears of a topic. */
export interface Subscriber {
  /**
   * What all clients share of the next event, which the form's envelope goes around. The same bytes
   * for every client: nobody may change them.
   */
  event(result: Uint8Array): void
  /**
   * The last word: it cannot go on without a hole. The client's connection has to be closed, with
   * this reason (under 123 bytes, as a close frame takes them).
   */
  ended(reason: string): void
}

/** What one client has subscribed to. */
export interface Subscription {
  /** Lets the events come, first those since it was made. To be called once the client has its reply. */
  begin(): void
  /** It hears nothing more. Harmless when repeated, or after `ended`. */
  unsubscribe(): void
}

/** The subscriptions of all clients of one chain and interface. */
export interface Subscriptions {
  /**
   * Joins the topic, at an upstream where nobody has it yet. The call is what the client asked
   * with: its signal takes the request back as long as there is no reply.
   * @throws RelayError when no upstream could be subscribed to
   * @throws NodeRefused when the node has its reasons
   */
  subscribe(call: Call, topic: Topic, subscriber: Subscriber): Promise<Subscription>
}

/** The node's own error to a subscription, which is the client's answer. */
export class NodeRefused extends Error {
  override readonly name = 'NodeRefused'
  /** The `error` member of the node's answer, JSON. */
  readonly error: Uint8Array
  /** Another node may well say yes. */
  readonly isItsOwnTrouble: boolean

  constructor(error: Uint8Array, isItsOwnTrouble: boolean) {
    super('the node refused the subscription')
    this.error = error
    this.isItsOwnTrouble = isItsOwnTrouble
  }
}
