// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect } from 'vitest'
import { WebSocket } from 'ws'
import { once } from 'node:events'
import type { BlockRef } from '../../proxy/chain/types.ts'
import { Keys, textOf } from '../../proxy/relay/call-key.ts'
import type { Call } from '../../proxy/relay/call.ts'
import { serveRouter } from '../served/served-router.ts'
import type { Decoder, Reading } from './decoders.ts'
import { resultOf, startDecodingNode } from './decoding-node.ts'

const [a, b] = [`0x${'aa'.repeat(20)}`, `0x${'bb'.repeat(20)}`]
type SentCall = Pick<Reading, 'method' | 'params'>

/** Pairs of honest calls about final blocks, which are cacheable. */
const pairs: readonly (readonly [SentCall, SentCall])[] = [
  [
    { method: 'eth_getBalance', params: [a, { blockNumber: '0x10' }] },
    { method: 'eth_getBalance', params: [b, { blockNumber: '0x20' }] },
  ],
  [
    { method: 'eth_call', params: [{ to: a, data: '0x01' }, '0x10'] },
    { method: 'eth_call', params: [{ to: b, data: '0x02' }, { blockNumber: '0x20' }] },
  ],
  [
    { method: 'eth_getLogs', params: [{ address: a, fromBlock: '0x10', toBlock: '0x20' }] },
    { method: 'eth_getLogs', params: [{ address: b, fromBlock: '0x20', toBlock: '0x30' }] },
  ],
  [
    { method: 'eth_getBlockByNumber', params: ['0x10', false] },
    { method: 'eth_getBalance', params: [a, '0x10'] },
  ],
]

/** Members in their written order, with names and values as JSON. */
type Members = (readonly [name: string, value: Json])[]
type Json = string | { readonly members: Members } | readonly Json[]

function treeOf(value: unknown): Json {
  if (Array.isArray(value)) return value.map(treeOf)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return { members: Object.entries(value).map(([name, each]) => [`"${name}"`, treeOf(each)]) }
}

function written(tree: Json, space: string): string {
  if (typeof tree === 'string') return tree
  if (!('members' in tree)) return `[${tree.map((each) => written(each, space)).join(`,${space}`)}]`
  const members = tree.members.map(([name, value]) => `${name}${space}:${written(value, space)}`)
  return `{${space}${members.join(`${space},`)}}`
}

/** Spellings of a name that some decoder reads as the same name. */
const spellings: readonly ((name: string, at: number) => string)[] = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.toLowerCase(),
  (name) => name.replace(/[a-z]/, (first) => first.toUpperCase()),
  (name) => name.replace('s', '\u017f').replace('k', '\u212a'),
  (name) => name.replace('s', String.raw`\u017f`).replace('k', String.raw`\u212A`),
  (name, at) => {
    const place = 1 + (at % (name.length - 2))
    const code = name.charCodeAt(place).toString(16).padStart(4, '0')
    return `${name.slice(0, place)}\\u${code}${name.slice(place + 1)}`
  },
  (name) => name.replace(/"$/, ' "'),
]

interface Edit {
  readonly spelling: (name: string, at: number) => string
  readonly at: number
  readonly isInside: boolean
  readonly isAdded: boolean
}

/** Adds a member of another call under another spelling, or renames a member of this call. */
function edited(tree: Members, other: Members, { spelling, at, isInside, isAdded }: Edit): Members {
  const [mine, theirs] = [tree, other].map((each) => innerOf(each)?.members)
  if (isInside && mine && theirs) {
    const members = edited(mine, theirs, { spelling, at, isAdded, isInside: false })
    return tree.map(([name, value]) => [name, name === '"params"' ? put(value, members) : value])
  }
  const source = isAdded ? other : tree
  const [name, value] = source[at % source.length]!
  // A change inside an escape would make the JSON invalid.
  const member = [name.includes('\\') ? name : spelling(name, at), value] as const
  return isAdded ? [...tree, member] : tree.map((each) => (each[0] === name ? member : each))
}

function isHolder(tree: Json): tree is { members: Members } {
  return typeof tree === 'object' && 'members' in tree
}

/** The first object in the params. */
function innerOf(tree: Members): { members: Members } | undefined {
  const params = tree.find(([name]) => name === '"params"')?.[1]
  return Array.isArray(params) ? (params as Json[]).find(isHolder) : undefined
}

function put(params: Json, members: Members): Json {
  const all = params as readonly Json[]
  const at = all.findIndex(isHolder)
  return all.map((each, index) => (index === at ? { members } : each))
}

function turned(tree: Json): Json {
  if (typeof tree === 'string') return tree
  if (!isHolder(tree)) return (tree as readonly Json[]).map(turned)
  return { members: tree.members.toReversed().map(([name, value]) => [name, turned(value)]) }
}

const edit = fc.record({
  ...{ spelling: fc.constantFrom(...spellings), at: fc.nat(20) },
  ...{ isInside: fc.boolean(), isAdded: fc.boolean() },
})
const plan = fc.record({
  pair: fc.constantFrom(...pairs, ...pairs.map(([one, other]) => [other, one] as const)),
  edits: fc.array(edit, { minLength: 1, maxLength: 3 }),
  space: fc.constantFrom('', ' ', '\n\t'),
  way: fc.constantFrom('post', 'batch', 'joined', 'socket'),
})

/**
 * Sends mutated requests through a router to a node with several decoders. Each decoder must read
 * the call that the router classified, and later honest callers must get their own answers.
 */
export async function expectSameReadings(
  decoders: readonly Decoder[],
  options: fc.Parameters<unknown>,
): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const node = stack.use(await startDecodingNode('a', decoders[0]!))
  const ended: Call[] = []
  const callEnded = (call: Call) => void ended.push(call)
  const observers = [{ listenerObserver: () => ({ callEnded }) }]
  const router = stack.use(await serveRouter({ primaries: [node], observers }))
  const socket = new WebSocket(router.socketUrl)
  stack.defer(() => socket.terminate())
  await once(socket, 'open')
  const post = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch(router.url, { method: 'POST', headers, body })).json()
  }
  const ask = async (text: string, way: string, honest: string) => {
    if (way === 'post') return post(text)
    if (way === 'batch') return post(`[${text}]`)
    if (way === 'joined') return post(`[${text},${honest}]`)
    socket.send(text)
    return once(socket, 'message')
  }
  const keys = new Keys('')
  /** The reading of each decoder for the first call with a key. */
  const read = new Map<string, string[]>()
  let runs = 0
  const property = fc.asyncProperty(plan, async ({ pair, edits, space, way }) => {
    const [mine, theirs] = pair.map((each) => {
      return (treeOf({ jsonrpc: '2.0', id: 1, ...each }) as { members: Members }).members
    }) as [Members, Members]
    const members = edits.reduce((tree, each) => edited(tree, theirs, each), mine)
    const honest = { jsonrpc: '2.0', id: 7, ...pair[1] }
    for (const each of [{ members }, turned({ members })]) {
      node.decode = decoders[runs++ % decoders.length]!
      ended.length = 0
      // A notification gets no answer over a WebSocket.
      const isAnswered = members.some(([name]) => name === '"id"')
      const answer = isAnswered
        ? await ask(written(each, space), way, JSON.stringify(honest))
        : null
      for (const call of ended) await checkCall(call, decoders, keys, read)
      if (way === 'joined' && answer)
        expect(answer).toMatchObject([{}, { result: resultOf(pair[1]) }])
    }
    for (const each of pair)
      expect(await post(JSON.stringify({ jsonrpc: '2.0', id: 1, ...each }))).toEqual({
        ...{ jsonrpc: '2.0', id: 1, result: resultOf(each) },
      })
  })
  await fc.assert(property, options)
}

async function checkCall(
  call: Call,
  decoders: readonly Decoder[],
  keys: Keys,
  read: Map<string, string[]>,
): Promise<void> {
  const { method, request, journal } = call
  const text = Buffer.from(request.body as Uint8Array).toString()
  const readings = (await Promise.all(decoders.map((decode) => decode(text)))).map(([each]) => each)
  const why = `${text} is read as ${JSON.stringify(readings)}`
  for (const reading of readings) {
    if (reading) expect(reading.method, why).toBe(method.name)
    if (reading && method.block.kind !== 'invalid')
      expect(blockIn(reading), why).toBe(blockText(method.block))
  }
  for (const { violation, isDoubted } of journal.attempts)
    expect([violation, isDoubted], why).toEqual([null, false])
  if (!method.known || !method.cacheable) return
  const key = textOf(keys.of(call)!)
  const all = readings.map((each) => JSON.stringify(each && [each.method, each.params]))
  expect(all, why).toEqual(read.get(key) ?? all)
  read.set(key, all)
}

/** The block that a decoder read, in the notation of the router. */
function blockIn({ method, params }: Reading): string {
  const at = method === 'eth_getBalance' || method === 'eth_call' ? 1 : 0
  const value = params[at] ?? (method === 'eth_getLogs' ? {} : 'latest')
  if (typeof value === 'string') return value
  const {
    blockNumber,
    blockHash,
    fromBlock = 'latest',
    toBlock = 'latest',
  } = value as Record<string, string>
  return method === 'eth_getLogs'
    ? (blockHash ?? `${fromBlock} ${toBlock}`)
    : (blockNumber ?? blockHash ?? '')
}

function blockText(block: BlockRef): string {
  if (block.kind === 'range') return `${blockText(block.from)} ${blockText(block.to)}`
  if (block.kind === 'number') return `0x${block.number.toString(16)}`
  if (block.kind === 'tag') return block.tag
  return block.kind === 'hash' ? block.hash : block.kind
}
