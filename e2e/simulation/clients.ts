// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { JsonRpcReplyReader } from '../../proxy/listener/jsonrpc/jsonrpc-reply-reader.ts'
import { type Call, Journal, noDirectives } from '../../proxy/relay/call.ts'
import { CallAborted, RelayError } from '../../proxy/relay/errors.ts'
import { MalformedAnswer } from '../../proxy/relay/reply.ts'
import type { Relay } from '../../proxy/relay/relay.ts'
import { type BodyStream, TransportError } from '../../proxy/upstream/wire.ts'
import type { ChainModel } from '../upstream-sim/chain-model.ts'
import { toQuantity as hex } from '../upstream-sim/hex.ts'
import type { Arena, ClientCall, Outcome, Question } from './arena.ts'
import type { Spec } from './engine.ts'
import type { RequestPlan } from './schedule.ts'

/** Starts a client's call like a listener. The client may leave early, according to its plan. */
export function beginCall(
  id: string,
  plan: RequestPlan,
  arena: Arena & { readonly calls: Map<string, ClientCall> },
  { iface }: Spec,
  relay: Relay,
  ended: (client: ClientCall) => void,
): ClientCall {
  const { clock, chain, schedule } = arena
  const { method } = plan
  const question = questionOf(plan, chain)
  const { params } = question
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  const left = new AbortController()
  const startedMs = clock.nowMs()
  const sentId = Buffer.from(JSON.stringify(id))
  const call: Call = {
    guid: id,
    method: iface.classify({ apiInterface: 'jsonrpc', method, params }),
    request: { verb: 'POST', path: '', headers: ['content-type', 'application/json'], body },
    reader: new JsonRpcReplyReader(sentId, sentId),
    directives: {
      ...noDirectives,
      selectProvider: plan.selectProvider,
      blockProviders: plan.blockProviders,
      relayTimeoutMs: plan.relayTimeoutMs,
      minBlock: arena.floors.floorOf(plan),
    },
    signal: left.signal,
    journal: new Journal(startedMs),
  }
  const client: ClientCall = {
    id,
    plan,
    question,
    call,
    startedMs,
    deadlineMs: startedMs + schedule.settings.relay.processingTimeoutMs,
    verified: new Set(
      [...arena.seats.values()]
        .filter(({ url }) => url.verified === true)
        .map(({ url }) => url.printable),
    ),
    exchanges: [],
    leftMs: null,
    endedMs: null,
    outcome: null,
  }
  arena.calls.set(id, client)
  const cancelLeaving =
    plan.leavesAfterMs === null
      ? () => {}
      : clock.after(plan.leavesAfterMs, () => {
          client.leftMs = clock.nowMs()
          left.abort()
        })
  const end = (outcome: Outcome) => {
    cancelLeaving()
    if (client.endedMs !== null) arena.report('ends-once', `${id} ended twice`)
    client.endedMs = clock.nowMs()
    client.outcome = outcome
    ended(client)
  }
  relay(call).then(
    async (reply) => {
      const { body } = reply.incoming
      const isWhole = body instanceof Uint8Array || (await readToEnd(body))
      if (client.leftMs !== null) end({ kind: 'abandoned' })
      else end({ kind: isWhole ? 'reply' : 'broken-off', reply })
    },
    (thrown: unknown) => end(outcomeOf(thrown, client)),
  )
  return client
}

/** Reads a whole stream. @returns false when the connection breaks */
async function readToEnd(body: BodyStream): Promise<boolean> {
  try {
    for await (const piece of body) void piece
    return true
  } catch (error) {
    if (error instanceof TransportError || error instanceof MalformedAnswer) return false
    throw error
  }
}

function outcomeOf(thrown: unknown, { leftMs }: ClientCall): Outcome {
  if (leftMs !== null && (thrown instanceof CallAborted || thrown instanceof RelayError))
    return { kind: 'abandoned' }
  return thrown instanceof RelayError
    ? { kind: 'error', error: thrown }
    : { kind: 'defect', thrown }
}

/** The params of a plan at the current head of the chain. */
function questionOf(plan: RequestPlan, chain: ChainModel): Question {
  const { method, pick, isEarly } = plan
  const depth = isEarly ? -1 : plan.depth
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
      // One call in eight is to a contract that always reverts.
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
      const block = withTransactions(chain, height)
      const { hash } = block.transactions[pick % block.transactions.length]!
      return { params: [hash], neededBlock: block.height }
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

/** The newest block up to `height` with a transaction. */
function withTransactions(chain: ChainModel, height: number) {
  for (let at = height; ; at -= 1) {
    const { transactions } = chain.block(at).block
    if (transactions.length > 0) return { height: at, transactions }
  }
}
