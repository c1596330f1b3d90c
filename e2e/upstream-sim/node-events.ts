// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import { fitsFilter, type LogFilter } from './log-filter.ts'
import type { Log, MinedBlock } from './block-builder.ts'

/** Something that a node tells to those who subscribed. */
export type NodeEvent =
  | { readonly kind: 'head'; readonly head: object; readonly mined: MinedBlock }
  | { readonly kind: 'log'; readonly log: Log }

/** Blocks that are remembered, to tell where another branch begins. */
const rememberedBlocks = 4_096

/**
 * What one node tells of new blocks, as geth does: each block that becomes part of its chain, from
 * where a new branch begins; the logs of those that are not any more, marked as removed, before
 * those that take their place. What it tells of is what has happened since it was asked before.
 */
export class NodeEvents {
  readonly #view: ChainView
  readonly #told: MinedBlock[] = []

  constructor(view: ChainView) {
    this.#view = view
    this.#told.push(view.at(view.head))
  }

  /** Everything since the last time, in order. */
  next(): readonly NodeEvent[] {
    const removed: MinedBlock[] = []
    const { head } = this.#view
    for (let tip = this.#told.at(-1); tip && !this.#isStill(tip, head); tip = this.#told.at(-1)) {
      removed.push(tip)
      this.#told.pop()
    }
    const first = (this.#told.at(-1)?.height ?? (removed.at(-1)?.height ?? head) - 1) + 1
    const added: MinedBlock[] = []
    for (let height = first; height <= head; height++) added.push(this.#view.at(height))
    this.#told.push(...added)
    this.#told.splice(0, this.#told.length - rememberedBlocks)
    return [
      ...removed.flatMap((mined) => logsOf(mined).toReversed().map(asRemoved)),
      ...added.flatMap((mined) => [
        { kind: 'head', head: headOf(mined.block), mined } as const,
        ...logsOf(mined).map((log) => ({ kind: 'log', log }) as const),
      ]),
    ]
  }

  /** A view that falls behind takes nothing back. */
  #isStill({ height, hash }: MinedBlock, head: number): boolean {
    return height > head || this.#view.at(height).hash === hash
  }
}

/** Whether somebody who asked for this topic hears of the event. */
export function isOfTopic(event: NodeEvent, params: readonly unknown[]): boolean {
  if (event.kind === 'head') return params[0] === 'newHeads'
  return params[0] === 'logs' && fitsFilter(event.log, params[1] as LogFilter | undefined)
}

export function resultOf(event: NodeEvent): object {
  return event.kind === 'head' ? event.head : event.log
}

function logsOf({ receipts }: MinedBlock): readonly Log[] {
  return receipts.flatMap(({ logs }) => logs)
}

function asRemoved(log: Log) {
  return { kind: 'log', log: { ...log, removed: true } } as const
}

const notOfHeader: ReadonlySet<string> = new Set(['transactions', 'uncles', 'withdrawals', 'size'])

/** The header of a block, as it is told when it is new. */
export function headOf(block: MinedBlock['block']): object {
  return Object.fromEntries(Object.entries(block).filter(([name]) => !notOfHeader.has(name)))
}
