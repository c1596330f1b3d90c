// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { changedAt, type Change, type Path } from '../simulation/lies.ts'
import type { ChainNode, NodeReply, NodeRequest } from '../upstream-sim/served-node.ts'

/** One lie: in the results of which method or route, as the node names it, another value stands where. */
export type Lie = readonly [of: string, path: Path, change: Change]

/** A node that tells the truth, but for the lies that are switched on. */
export class LyingNode implements ChainNode {
  readonly #node: ChainNode
  readonly #isRpc: boolean
  /** In the order in which they are tried; the first that has something to say is told. */
  lies: readonly Lie[] = []
  told = 0

  /** @param isRpc answers are JSON-RPC, and the lie is told in their result */
  constructor(node: ChainNode, isRpc: boolean) {
    this.#node = node
    this.#isRpc = isRpc
  }

  answer(request: NodeRequest): NodeReply {
    const reply = this.#node.answer(request)
    const [method] = reply.methods
    if (reply.status >= 300 || reply.methods.length !== 1) return reply
    // What the router asks of its own accord is answered honestly.
    if (this.#isRpc && !request.body.includes('"id":"c')) return reply
    for (const [of, path, change] of this.lies) {
      if (of !== method) continue
      const document = JSON.parse(reply.body) as { error?: unknown; result?: unknown }
      if (this.#isRpc && document.error) return reply
      const forged = changedAt(this.#isRpc ? document.result : document, path, change)
      if (forged === undefined) continue
      const body = JSON.stringify(this.#isRpc ? { ...document, result: forged } : forged)
      this.told += 1
      return { ...reply, body }
    }
    return reply
  }
}
