// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { changedAt, type Change, type Path } from '../simulation/wrong-answers.ts'
import type { ChainNode, NodeRequest } from '../upstream-sim/served-node.ts'
import type { NodeReply } from '../upstream-sim/http-reply.ts'

/** A wrong value: the method or route of the node, the path in its result, and the change. */
export type WrongValue = readonly [of: string, path: Path, change: Change]

/** A node that is honest except for the active wrong values. */
export class WrongNode implements ChainNode {
  readonly #node: ChainNode
  readonly #isRpc: boolean
  /** Active wrong values. The first applicable one is used. */
  wrongValues: readonly WrongValue[] = []
  wrongAnswers = 0

  /** @param isRpc whether answers are JSON-RPC, with the value in `result` */
  constructor(node: ChainNode, isRpc: boolean) {
    this.#node = node
    this.#isRpc = isRpc
  }

  answer(request: NodeRequest): NodeReply {
    const reply = this.#node.answer(request)
    const [method] = reply.methods
    if (reply.status >= 300 || reply.methods.length !== 1) return reply
    // The router's own requests get honest answers.
    if (this.#isRpc && !request.body.includes('"id":"c')) return reply
    for (const [of, path, change] of this.wrongValues) {
      if (of !== method) continue
      const document = JSON.parse(reply.body) as { error?: unknown; result?: unknown }
      if (this.#isRpc && document.error) return reply
      const forged = changedAt(this.#isRpc ? document.result : document, path, change)
      if (forged === undefined) continue
      const body = JSON.stringify(this.#isRpc ? { ...document, result: forged } : forged)
      this.wrongAnswers += 1
      return { ...reply, body }
    }
    return reply
  }
}
