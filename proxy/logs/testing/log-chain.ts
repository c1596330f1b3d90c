// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { keccak256 } from '../../integrity/keccak256.ts'
import { dataOf, listFrom } from '../../integrity/proof.ts'
import { receiptOf } from '../../integrity/receipts-root.ts'
import { nodeError, result } from '../../relay/testing/relay-fixture.ts'
import type { Script, ScriptedAnswer } from '../../upstream/testing/scripted-transport.ts'
import type { Outgoing } from '../../upstream/wire.ts'

export interface Filter {
  readonly fromBlock?: string
  readonly toBlock?: string
  readonly address?: string | readonly string[]
  readonly topics?: readonly (string | readonly string[] | null)[]
}

export interface Log {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
  readonly blockNumber: string
  readonly blockHash: string
  readonly logIndex: string
  readonly transactionHash: string
  readonly transactionIndex: string
  readonly removed: boolean
}

/** What a node refuses, and how it says so. */
export interface Limits {
  readonly blocks?: number
  readonly results?: number
  /** Error for a range that is too long. */
  readonly tooMany?: (blocks: number, from: number) => string
  /** Its code. */
  readonly code?: number
  readonly afterMs?: number
  /** Blocks above which it never answers. */
  readonly hangsAbove?: number
  /** Blocks above which it answers null. */
  readonly nullAbove?: number
  /** Streams its answers. */
  readonly streams?: boolean
  /** Whether it serves receipts and headers. Default: true. */
  readonly hasReceipts?: boolean
  readonly group?: string
  /** The limit as configured. */
  readonly maxLogBlocks?: number
  /** Changes the logs of an answer. */
  readonly alter?: (logs: readonly Log[]) => readonly Log[] | null
}

const hex = (number: number) => `0x${number.toString(16)}`
const word = (text: string) => `0x${hash('sha256', text, 'hex')}`
export const addresses = [1, 2, 3, 4].map((at) => word(`address ${at}`).slice(0, 42))
/** Logs by branch and block, which all chains share. */
const made = new Map<number, readonly Log[]>()
export const topics = [1, 2, 3].map((at) => word(`topic ${at}`))

/** A chain with up to four logs per block, as a function of its branches. */
export class LogChain {
  head: number
  /** The block from which each branch has its own blocks. */
  readonly #branches = [0]
  /** Answered ranges, in order of the requests. */
  readonly answered: { readonly node: string; readonly from: number; readonly to: number }[] = []
  /** Refused ranges. */
  readonly refused: { readonly node: string; readonly from: number; readonly to: number }[] = []

  constructor(head: number) {
    this.head = head
  }

  reorg(depth: number): void {
    this.#branches.push(this.head - depth + 1)
  }

  get askedBlocks(): number {
    return this.answered.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  }

  logs(from: number, to: number, filter: Filter = {}): Log[] {
    const logs: Log[] = []
    for (let block = from; block <= Math.min(to, this.head); block++)
      logs.push(...this.#logsIn(block).filter((log) => fits(log, filter)))
    return logs
  }

  #branchOf(block: number): number {
    return this.#branches.findLastIndex((first) => first <= block)
  }

  #hashOf(block: number): string {
    return word(`block ${this.#branchOf(block)} ${block}`)
  }

  #logsIn(block: number): readonly Log[] {
    const branch = this.#branchOf(block)
    const key = branch * 1e9 + block
    return made.getOrInsertComputed(key, () => this.#make(branch, block))
  }

  #blockOf(method: string, block: number): unknown {
    const receipt = {
      ...{ type: '0x2', status: '0x1', cumulativeGasUsed: '0x5208', logsBloom: '0x' },
      ...{ transactionIndex: '0x0', blockNumber: hex(block), logs: this.#logsIn(block) },
    }
    return method === 'eth_getBlockReceipts'
      ? [receipt]
      : { number: hex(block), hash: this.#hashOf(block), receiptsRoot: rootOf(receipt) }
  }

  #make(branch: number, block: number): readonly Log[] {
    const seed = hash('sha256', `${branch} ${block}`, 'buffer')
    const text = seed.toString('hex')
    const blockHash = this.#hashOf(block)
    const own = (at: number) => `0x${text.slice(at)}${text.slice(0, at)}`
    return Array.from({ length: (seed[0] ?? 0) % 5 }, (_, at) => ({
      address: addresses[(seed[at + 1] ?? 0) % 4] ?? '',
      topics: topics.slice(0, (seed[at + 5] ?? 0) % 4),
      data: own(20 + at),
      blockNumber: hex(block),
      blockHash,
      logIndex: hex(at),
      transactionHash: own(40 + at),
      transactionIndex: '0x0',
      removed: false,
    }))
  }

  /** A node of this chain. */
  node(name: string, limits: Limits = {}): Script {
    return (request) => this.#answer(name, request, limits)
  }

  #answer(node: string, { body }: Outgoing, limits: Limits): ScriptedAnswer {
    const { afterMs = 10, blocks: most = Infinity, results = Infinity } = limits
    const { params, method } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
      readonly params: readonly [Filter]
      readonly method: string
    }
    if (method !== 'eth_getLogs') {
      if (limits.hasReceipts === false) return nodeError(-32601, 'Method not found')
      const block = (params[0] as unknown) === 'finalized' ? this.head - 600 : Number(params[0])
      return result(block > this.head ? null : this.#blockOf(method, block), { afterMs })
    }
    const heightOf = (text?: string) => heights[text ?? ''] ?? Number(text)
    const heights: Record<string, number> = { latest: this.head, finalized: this.head - 600 }
    const [from, to] = [heightOf(params[0].fromBlock), heightOf(params[0].toBlock)]
    const size = to - from + 1
    const { tooMany = (blocks: number) => `exceed maximum block range: ${blocks}` } = limits
    const refuse = (message: string) => {
      this.refused.push({ node, from, to })
      return nodeError(limits.code ?? -32602, message, { afterMs })
    }
    if (size > (limits.hangsAbove ?? Infinity)) return { hang: true }
    if (size > (limits.nullAbove ?? Infinity)) return result(null, { afterMs })
    if (size > most) return refuse(tooMany(most, from))
    const logs = this.logs(from, to, params[0])
    if (logs.length > results) return refuse(`query returned more than ${results} results`)
    this.answered.push({ node, from, to })
    const answer = result(limits.alter ? limits.alter(logs) : logs, { afterMs })
    const { body: text = '' } = answer
    if (!limits.streams) return answer
    return { ...answer, body: text.slice(0, 100), streams: true, rest: [text.slice(100)] }
  }
}

/** Root of the trie of a single receipt: a leaf, after its path. */
function rootOf(receipt: unknown): string {
  const leaf = listFrom([dataOf('0x2080'), dataOf(`0x${receiptOf(receipt)}`)])
  return `0x${keccak256(Buffer.from(leaf ?? '', 'hex')).toString('hex')}`
}

function fits(log: Log, { address = [], topics: wanted = [] }: Filter): boolean {
  const any = (value: string | readonly string[]) => (typeof value === 'string' ? [value] : value)
  if (any(address).length > 0 && !any(address).includes(log.address)) return false
  if (wanted.length > log.topics.length) return false
  return wanted.every(
    (each, at) =>
      each === null || any(each).length === 0 || any(each).includes(log.topics[at] ?? ''),
  )
}
