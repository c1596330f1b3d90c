// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { seededRandom } from '../../proxy/clock/testing/seeded-random.ts'
import { lieAbout, type LiedAbout, type LieKind } from '../simulation/lies.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import { EthereumNode } from '../upstream-sim/sim-node.ts'
import { FaultSwitch } from '../upstream-sim/faults.ts'
import type { SimNode } from '../upstream-sim/sim-node.ts'

/** What is true on a chain, without a wire. */
export interface Truth {
  /** The honest answer's text. */
  answer(call: LiedAbout): string
  /** The honest result, parsed. */
  result(call: LiedAbout): unknown
}

export function truthOf(chain: ChainModel): Truth {
  const node = new EthereumNode({ chain, faults: new FaultSwitch(seededRandom(0)) })
  const answer = (call: LiedAbout) => node.reply({ isBatch: false, items: [call] }) as string
  const result = (call: LiedAbout) => (JSON.parse(answer(call)) as { result?: unknown }).result
  return { answer, result }
}

/**
 * Has a node lie to clients: the first of the kinds that has something to say about a call, each
 * time as `kindsFor` orders them. What the router asks of its own accord is answered honestly.
 * @returns how often each lie was told, by its kind
 */
export function makeLiar(
  node: SimNode,
  truth: Truth,
  methods: readonly string[],
  kindsFor: () => readonly LieKind[],
): Map<LieKind, number> {
  const told = new Map<LieKind, number>()
  const forge = (call: LiedAbout, honest: string) => {
    const lie = lieAbout(kindsFor(), call, honest, truth.answer)
    if (lie) told.set(lie.kind, (told.get(lie.kind) ?? 0) + 1)
    return lie?.body ?? null
  }
  node.faults.add({ kind: 'forged', forge }, { methods })
  return told
}
