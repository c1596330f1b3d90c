// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { wrongAnswerTo, type NodeCall, type WrongKind } from '../simulation/wrong-answers.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import { EthereumNode, type SimNode } from '../upstream-sim/sim-node.ts'
import { FaultSwitch } from '../upstream-sim/faults.ts'

/** The right answers of a chain, computed in memory. */
export interface Truth {
  /** The text of the honest answer. */
  answer(call: NodeCall): string
  /** The parsed honest result. */
  result(call: NodeCall): unknown
}

export function truthOf(chain: ChainModel): Truth {
  const node = new EthereumNode({ chain, faults: new FaultSwitch(seededRandom(0)) })
  const answer = (call: NodeCall) => node.reply({ isBatch: false, items: [call] }) as string
  const result = (call: NodeCall) => (JSON.parse(answer(call)) as { result?: unknown }).result
  return { answer, result }
}

/**
 * Makes a node answer clients wrongly, with the first of `kindsFor` that has a wrong answer for the
 * call. The router's own requests get honest answers.
 * @returns the number of wrong answers by kind
 */
export function answerWrongly(
  node: SimNode,
  truth: Truth,
  methods: readonly string[],
  kindsFor: () => readonly WrongKind[],
): Map<WrongKind, number> {
  const sent = new Map<WrongKind, number>()
  const forge = (call: NodeCall, honest: string) => {
    const wrong = wrongAnswerTo(kindsFor(), call, honest, truth.answer)
    if (wrong) sent.set(wrong.kind, (sent.get(wrong.kind) ?? 0) + 1)
    return wrong?.body ?? null
  }
  node.faults.add({ kind: 'forged', forge }, { methods })
  return sent
}
