// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call } from '../../proxy/relay/call.ts'
import type { RelayError } from '../../proxy/relay/errors.ts'
import type { Reply } from '../../proxy/relay/reply.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import type { LieKind } from './lies.ts'
import type { Illness, RequestPlan } from './schedule.ts'

/** What a URL did with a request, as the simulation decided and not as the engine saw it. */
export type Fate =
  | { readonly kind: 'honest' }
  | { readonly kind: 'lie'; readonly lie: LieKind }
  /** Ill in another way. */
  | { readonly kind: 'ill'; readonly illness: Exclude<Illness['kind'], 'lie'> }

/** One request that the engine sent to one URL. */
export interface Exchange {
  readonly place: Place
  /** The client's call; null for the router's own probes. */
  readonly callId: string | null
  readonly method: string
  readonly sentMs: number
  fate: Fate
  /** When its answer would be there; null: never. */
  readonly dueMs: number | null
  /** The node's newest block when it was asked. */
  readonly head: number
  /** It asks to be left alone for so long; null: it does not. */
  readonly limitMs: number | null
  /** What it sends is an error, honest or not. */
  readonly saysError: boolean
  /** Null while it is under way. */
  endedMs: number | null
  /** The router took it back. */
  isTakenBack: boolean
}

/** One URL of one upstream. */
export interface Place {
  readonly upstream: string
  readonly url: number
  /** What the engine prints of the URL. */
  readonly printable: string
}

/** Hears what goes over the wire. */
export interface WireObserver {
  sent(exchange: Exchange): void
  ended(exchange: Exchange): void
}

/** A request as it is asked, and the lowest head of a node that can answer it. */
export interface Question {
  readonly params: readonly unknown[]
  /** Height of the newest block that the answer needs; null when any node can answer. */
  readonly neededBlock: number | null
}

const hex = (number: number) => `0x${number.toString(16)}`

/** What a plan asks at this moment of the chain. */
export function questionOf(plan: RequestPlan, chain: ChainModel): Question {
  const { method, depth, pick } = plan
  const { head, population } = chain
  const account = population.accounts[pick % population.accounts.length] as string
  const height = head - (depth ?? 0)
  const block = depth === null ? 'latest' : hex(height)
  const neededBlock = depth === null ? null : height
  switch (method) {
    case 'eth_getBalance':
      return { params: [account, block], neededBlock }
    case 'eth_call':
    case 'eth_estimateGas': {
      // One in eight asks a contract that always reverts.
      const to = pick === 0 ? population.revertingContract : population.contracts[pick]
      return { params: [{ to, data: '0x18160ddd' }, block], neededBlock }
    }
    case 'eth_getBlockByNumber':
      return { params: [block, pick % 2 === 0], neededBlock }
    case 'eth_getBlockReceipts':
      return { params: [block], neededBlock }
    case 'eth_getBlockByHash':
      return { params: [chain.block(height).hash, false], neededBlock: height }
    case 'eth_getTransactionByHash':
    case 'eth_getTransactionReceipt': {
      const place = withTransactions(chain, height)
      const { hash } = place.transactions[pick % place.transactions.length]!
      return { params: [hash], neededBlock: place.height }
    }
    case 'eth_getLogs': {
      const fromBlock = hex(height - pick)
      const filter = pick % 2 === 0 ? {} : { address: population.contracts[pick] }
      return { params: [{ fromBlock, toBlock: block, ...filter }], neededBlock }
    }
    case 'eth_sendRawTransaction':
      return { params: [`0x${(pick * 1_000 + 0xabcdef).toString(16)}`], neededBlock: null }
    case 'debug_getRawHeader':
      return { params: [block], neededBlock }
    default:
      return { params: [], neededBlock: null }
  }
}

/** The newest block up to `height` that holds a transaction. */
function withTransactions(chain: ChainModel, height: number) {
  for (let at = height; ; at -= 1) {
    const { transactions } = chain.block(at).block
    if (transactions.length > 0) return { height: at, transactions }
  }
}

/** How a call ended for its client. */
export type Outcome =
  | { readonly kind: 'reply'; readonly reply: Reply }
  | { readonly kind: 'error'; readonly error: RelayError }
  | { readonly kind: 'abandoned' }
  /** A part of an answer came, and then the connection broke: nothing was taken for whole. */
  | { readonly kind: 'broken-off'; readonly reply: Reply }
  /** Something was thrown that no caller of the relay expects. */
  | { readonly kind: 'defect'; readonly thrown: unknown }

/** One call of one client, and what the simulation knows of it. */
export interface ClientCall {
  readonly id: string
  readonly plan: RequestPlan
  readonly question: Question
  readonly call: Call
  readonly startedMs: number
  readonly deadlineMs: number
  /** URLs, as they are printed, that were verified when it began. */
  readonly verified: ReadonlySet<string>
  /** In the order of their sending. */
  readonly exchanges: Exchange[]
  leftMs: number | null
  endedMs: number | null
  outcome: Outcome | null
}
