// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainNode, NodeReply, NodeRequest } from '../upstream-sim/chains/served-node.ts'

/** A document as parsed from JSON, to be changed. */
export type Json = any

/** One lie: what it says in place of the truth. */
export interface Lie {
  readonly name: string
  /** The method or route that it is told about, as the node names it. */
  readonly of: string
  /** Changes the result, or returns another; `undefined`: it has nothing to say about this answer. */
  readonly forge: (result: Json) => unknown
}

/** Sets a member and returns the whole. */
export const having = (path: readonly (string | number)[], change: (value: Json) => unknown) => {
  return (result: Json): unknown => {
    const holder = path.slice(0, -1).reduce((value: Json, key) => value?.[key], result)
    const last = path.at(-1)!
    if (typeof holder !== 'object' || holder?.[last] === undefined) return undefined
    const value = change(holder[last])
    if (value === undefined) delete holder[last]
    else holder[last] = value
    return result
  }
}

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
    for (const { of, forge } of this.lies) {
      if (of !== method) continue
      const document: Json = JSON.parse(String(reply.body))
      if (this.#isRpc && document.error) return reply
      const forged = forge(this.#isRpc ? document.result : document)
      if (forged === undefined) continue
      const body = JSON.stringify(this.#isRpc ? { ...document, result: forged } : forged)
      if (body === String(reply.body)) continue
      this.told += 1
      return { ...reply, body }
    }
    return reply
  }
}
