// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainView } from './chain-view.ts'
import { fitsFilter, type LogFilter } from './log-filter.ts'
import type { Log, MinedBlock } from './block-builder.ts'

export type NodeEvent =
  | { readonly kind: 'head'; readonly head: object; readonly mined: MinedBlock }
  | { readonly kind: 'log'; readonly log: Log }

/** Number of retained blocks, which limits the depth of a detectable fork. */
const retainedBlocks = 4_096

/**
 * New-block events of one node, like geth's: one for each block that joins its chain, from the fork
 * on. Logs of replaced blocks come first, marked as removed.
 */
export class NodeEvents {
  readonly #view: ChainView
  readonly #sent: MinedBlock[] = []

  constructor(view: ChainView) {
    this.#view = view
    this.#sent.push(view.at(view.head))
  }

  /** Events since the last call, in order. */
  next(): readonly NodeEvent[] {
    const removed: MinedBlock[] = []
    const { head } = this.#view
    for (
      let tip = this.#sent.at(-1);
      tip && !this.#isCanonical(tip, head);
      tip = this.#sent.at(-1)
    ) {
      removed.push(tip)
      this.#sent.pop()
    }
    const first = (this.#sent.at(-1)?.height ?? (removed.at(-1)?.height ?? head) - 1) + 1
    const added: MinedBlock[] = []
    for (let height = first; height <= head; height++) added.push(this.#view.at(height))
    this.#sent.push(...added)
    this.#sent.splice(0, this.#sent.length - retainedBlocks)
    return [
      ...removed.flatMap((mined) => logsOf(mined).toReversed().map(asRemoved)),
      ...added.flatMap((mined) => [
        { kind: 'head', head: headOf(mined.block), mined } as const,
        ...logsOf(mined).map((log) => ({ kind: 'log', log }) as const),
      ]),
    ]
  }

  /** Whether a block is still part of the chain. A view that falls behind removes no block. */
  #isCanonical({ height, hash }: MinedBlock, head: number): boolean {
    return height > head || this.#view.at(height).hash === hash
  }
}

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

/** The header of a block, as in an event. */
export function headOf(block: MinedBlock['block']): object {
  return Object.fromEntries(Object.entries(block).filter(([name]) => !notOfHeader.has(name)))
}
