// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { loadCatalog } from '../chain/load-catalog.ts'
import { readOut } from '../chain/testing/classified-chain.ts'
import type { Chain, ChainInterface, MethodSpec } from '../chain/types.ts'
import { grpcReplyReader } from '../listener/grpc/grpc-messages.ts'
import { RestReplyReader } from '../listener/rest/rest-reply-reader.ts'
import { Journal, noDirectives } from '../relay/call.ts'
import type { ReplyReader } from '../relay/reply.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { Outgoing } from '../upstream/wire.ts'
import { CacheFixture, type CallResult } from './testing/cache-fixture.ts'
import { silent } from './testing/silent-methods.ts'

/*
 * Covers every method of every bundled chain: after an answer shows block N, the cache serves
 * nothing older. An answer reveals N as its spec says, or proves that N exists. All other methods
 * are listed here.
 */

const known = 100
const next = known + 1
/** The block of `safe` and `finalized`. */
const trailing = 60

/** A read of the latest state whose answer names no block. */
const latestReads: Readonly<Record<string, readonly [method: string, params: readonly unknown[]]>> =
  {
    'evm jsonrpc': ['eth_getProof', [`0x${'aa'.repeat(20)}`, [], 'latest']],
    'solana jsonrpc': ['getTransactionCount', [{ commitment: 'confirmed' }]],
    'bitcoin jsonrpc': ['getdifficulty', []],
    'cosmos tendermintrpc': ['abci_query', ['/store/bank/key', 'aa']],
    'cosmos rest': ['GET /sdk/bank/v1beta1/supply', []],
    'cosmos grpc': ['sdk.bank.v1beta1.Query/TotalSupply', []],
    'aptos rest': ['GET /estimate_gas_price', []],
    'evm rest': ['GET /wallet/getburntrx', []],
    'BEACON rest': ['GET /eth/v1/beacon/states/head/fork', []],
    'NEAR jsonrpc': ['gas_price', [null]],
    'POLKADOT jsonrpc': ['state_getMetadata', []],
    'STRK jsonrpc': ['starknet_getClassHashAt', ['latest', '0x1']],
    'SUI jsonrpc': ['suix_getReferenceGasPrice', []],
    'TON rest': ['GET /v2/getTransactions', []],
    'XLM jsonrpc': ['getFeeStats', [{}]],
    'XLM rest': ['GET /fee_stats', []],
  }

/** A call, and how it names its block: `number`, `hash`, `latest`, `none`. */
interface Form {
  readonly name: string
  readonly method: MethodSpec
  readonly ask: (cache: CacheFixture) => Promise<CallResult>
}

type Headers = Readonly<Record<string, string>>

const texts = new Map<ChainInterface, string>()

/** The methods of an interface, for comparison. */
function textOf(iface: ChainInterface): string {
  return texts.getOrInsertComputed(iface, ({ methods }) => JSON.stringify([...methods]))
}

/** Names a family, or the base of chains outside the families, and the interface. */
function keyOf({ id, family }: Chain, iface: ChainInterface): string {
  const { apiInterface } = iface
  const kin = chains.filter((chain) => {
    const offered = chain.interfaces.get(apiInterface)
    return offered && textOf(offered) === textOf(iface)
  })
  const [base = id] = kin.map((chain) => chain.id).toSorted((a, b) => a.length - b.length)
  return `${family === 'other' ? base : family} ${apiInterface}`
}

/** A chain behind one interface. */
class Offered {
  readonly key: string
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly #at: number

  /** @param at the block that calls request and answers contain */
  constructor(chain: Chain, iface: ChainInterface, at = next) {
    this.#at = at
    this.key = keyOf(chain, iface)
    this.chain = chain
    this.iface = iface
  }

  /** One call per form of the method. */
  formsOf(method: string): Form[] {
    const { apiInterface } = this.iface
    const found = new Map<string, Form>()
    const calls =
      apiInterface === 'rest'
        ? this.#restCalls(method)
        : apiInterface === 'grpc'
          ? this.#grpcCalls(method)
          : this.#jsonCalls(method)
    for (const form of calls)
      if (form.method.known && form.name !== 'invalid' && !found.has(form.name))
        found.set(form.name, form)
    if (found.size === 0) throw new Error(`this test has no call of ${method}`)
    return [...found.values()]
  }

  #jsonCalls(method: string): Form[] {
    const isHex = this.chain.family === 'evm'
    const apiInterface = this.iface.apiInterface as 'jsonrpc' | 'tendermintrpc'
    const filler = isHex ? `0x${'aa'.repeat(20)}` : 'aa'
    const hash = `${isHex ? '0x' : ''}${'ab'.repeat(32)}`
    const classify = (params: unknown) => this.iface.classify({ apiInterface, method, params })
    const ahead = classify([]).showsBlock?.ahead ?? 0
    const number = isHex ? `0x${(this.#at + ahead).toString(16)}` : this.#at + ahead
    // On Solana, only a commitment identifies these blocks.
    const tags = this.chain.family === 'solana' ? [] : ['latest', 'pending', 'safe', 'finalized']
    const values = [
      ...[number, hash, ...tags].flatMap((each) => [
        each,
        { blockNumber: each },
        { stateBlockNumber: each },
        { fromBlock: '0x1', toBlock: each },
        { blockHash: each },
      ]),
      ...['processed', 'confirmed', 'finalized'].map((commitment) => ({ commitment })),
    ]
    const lists = [0, 1, 2, 3, 4].flatMap((length) => [
      Array(length).fill(filler) as unknown[],
      ...values.map((value) => [...(Array(length).fill(filler) as unknown[]), value]),
    ])
    return [...lists, [number, number]].map((params) => {
      const spec = classify(params)
      return { name: formOf(spec), method: spec, ask: (cache) => cache.get(method, params) }
    })
  }

  #restCalls(pattern: string): Form[] {
    const target = (block: number) =>
      pattern.replaceAll(/\{([^}]*)\}/g, (_, name: string) => {
        if (/hash|root/.test(name)) return 'ab'.repeat(32)
        return /height|version|block|state|sequence/.test(name) ? String(block) : 'aa'
      })
    return ['GET', 'POST'].flatMap((verb) => {
      const ahead = this.#restCall(`${verb} ${target(1)}`, {}).method.showsBlock?.ahead ?? 0
      const call = `${verb} ${target(this.#at + ahead)}`
      return this.#headers().map((headers) => this.#restCall(call, headers))
    })
  }

  #restCall(call: string, headers: Headers): Form {
    const [verb = '', target = ''] = call.split(' ')
    const [path = '', query = ''] = target.split('?')
    const header = (name: string) => headers[name] ?? null
    const method = this.iface.classify({ apiInterface: 'rest', verb, path, query, header })
    const body = verb === 'POST' ? Buffer.from('{}') : null
    return this.#form(
      method,
      { verb, path: target, headers: Object.entries(headers).flat(), body },
      new RestReplyReader(verb, method.answersJson === true),
    )
  }

  #grpcCalls(name: string): Form[] {
    const ahead = this.#grpcCall(name, {}, [8, 1]).method.showsBlock?.ahead ?? 0
    const messages = [[], ...[1, 2, 3].map((field) => [field * 8, this.#at + ahead])]
    return this.#headers().flatMap((headers) =>
      messages.map((message) => this.#grpcCall(name, headers, message)),
    )
  }

  #grpcCall(name: string, headers: Headers, bytes: readonly number[]): Form {
    const message = Buffer.from(bytes)
    const header = (name: string) => headers[name] ?? null
    const method = this.iface.classify({ apiInterface: 'grpc', method: name, header, message })
    return this.#form(
      method,
      {
        ...{ verb: 'POST', path: `/${name}` },
        headers: Object.entries(headers).flat(),
        body: framed(message),
      },
      grpcReplyReader,
    )
  }

  #headers(): Headers[] {
    return [{}, { 'x-cosmos-block-height': String(this.#at) }]
  }

  #form(method: MethodSpec, request: Outgoing, reader: ReplyReader): Form {
    const ask = (cache: CacheFixture) =>
      cache.getCall({
        ...{ guid: 'test', method, directives: noDirectives, request, reader },
        ...{ signal: new AbortController().signal, journal: new Journal(cache.clock.nowMs()) },
      })
    return { name: formOf(method), method, ask }
  }

  /** @param withHeader whether the node sends the header with its head */
  answerTo(method: MethodSpec, withHeader: boolean): (request: Outgoing) => ScriptedAnswer {
    const result = resultOf(method, this.#at, this.iface.apiInterface === 'grpc')
    const header = withHeader && method.tipHeader ? [method.tipHeader, String(this.#at)] : []
    return answering(this.iface, result, header)
  }

  /** A read of the latest state whose answer names no block. */
  readLatest(cache: CacheFixture): Promise<CallResult> {
    const [method, params] = latestReads[this.key]!
    const { apiInterface } = this.iface
    if (apiInterface === 'rest') return this.#restCall(`${method}?page=1`, {}).ask(cache)
    if (apiInterface === 'grpc') return this.#grpcCall(method, {}, [72, 1]).ask(cache)
    return cache.get(method, params)
  }
}

function formOf({ block }: MethodSpec): string {
  if (block.kind === 'range') return `range to ${formOf({ block: block.to } as MethodSpec)}`
  return block.kind === 'tag' ? block.tag : block.kind
}

const framed = (message: Buffer) =>
  Buffer.concat([Buffer.from([0, 0, 0, 0, message.length]), message])

/** A result as a node returns it: JSON or a message of fields. */
function answering(
  { apiInterface }: ChainInterface,
  result: unknown,
  header: readonly string[] = [],
) {
  return ({ body }: Outgoing): ScriptedAnswer => {
    const type = apiInterface === 'grpc' ? 'application/grpc' : 'application/json'
    const headers = ['content-type', type, ...header]
    if (apiInterface === 'rest') return { headers, body: JSON.stringify(result) }
    if (apiInterface === 'grpc')
      return {
        headers: [...headers, 'grpc-status', '0'],
        body: framed(encoded(result)).toString('latin1'),
      }
    const { id } = JSON.parse(Buffer.from(body as Uint8Array).toString()) as { id: unknown }
    return { headers, body: JSON.stringify({ jsonrpc: '2.0', id, result }) }
  }
}

/** A protobuf message of small numbers and nested messages, by field number. */
function encoded(value: unknown): Buffer {
  const fields = Object.entries(value as object).map(([field, each]: [string, unknown]) => {
    const number = Number.isNaN(Number(field)) ? 9 : Number(field)
    if (typeof each !== 'object') return Buffer.from([number * 8, Number(each)])
    const inner = encoded(each)
    return Buffer.concat([Buffer.from([number * 8 + 2, inner.length]), inner])
  })
  return Buffer.concat(fields)
}

const blockHash = 'cd'.repeat(32)

/** A result whose block is the next one, at each path in the spec. */
function resultOf(method: MethodSpec, at: number, isGrpc: boolean): unknown {
  const { tellsTip, showsBlock, checks, block } = method
  const root: { value?: unknown } = {}
  const put = (path: readonly (string | number)[], value: unknown) => {
    let inner: Record<string | number, unknown> = root
    const keys = ['value', ...path].map((key) => (key === -1 ? 0 : key))
    for (const [index, key] of keys.entries()) {
      const following = keys[index + 1]
      const isList = typeof following === 'number' && !isGrpc
      if (following === undefined) inner[key] = value
      else inner = (inner[key] ??= isList ? [] : {}) as Record<string | number, unknown>
    }
  }
  const place = tellsTip ?? showsBlock
  const isTrailing = block.kind === 'tag' && ['safe', 'finalized'].includes(block.tag)
  const isPending = block.kind === 'tag' && block.tag === 'pending'
  const number = isTrailing ? trailing : at + (place?.ahead ?? 0) + (isPending ? 1 : 0)
  const spelled = (encoding: string) => {
    if (isGrpc) return number
    return encoding === 'hex' ? `0x${number.toString(16)}` : String(number)
  }
  const hash = block.kind === 'hash' ? block.hash : `0x${blockHash}`
  for (const { rule, wanted } of checks) {
    const item = 'each' in rule && rule.each === true ? [0] : []
    if (rule.check === 'identity') put(rule.result, wanted?.())
    if (rule.check !== 'block') continue
    if (rule.number) put([...item, ...rule.number], spelled('hex'))
    if (rule.hash) put([...item, ...rule.hash], hash)
  }
  if (place && place.header === undefined) {
    put(place.path, spelled(place.encoding))
    if (place.hash) put(place.hash, hash)
    if (place.span) put(place.span, [0])
  }
  return root.value ?? (isGrpc ? { 9: 1 } : ['0x1'])
}

/** Effect of an answer on a cached read of the latest state. */
async function readAfter(offered: Offered, form: Form, withHeader = true) {
  const { chain, iface } = offered
  let script = answering(iface, { value: '1' })
  const options = { of: { chain, iface }, script: (request: Outgoing) => script(request) }
  const cache = new CacheFixture(() => null, options).heads(known)
  const read = () => offered.readLatest(cache)
  await cache.clock.advance(1_000)
  await read()
  expect((await read()).cache).toBe('hit latest')
  script = offered.answerTo(form.method, withHeader)
  const [upstream] = cache.pool.upstreams
  let isProbed = false
  upstream!.requestProbe = () => (isProbed = true)
  expect((await form.ask(cache)).upstream, `${form.method.name} is answered`).toBe('a')
  // The header reports the node's head, so no probe is due.
  if (withHeader && form.method.tipHeader) expect(isProbed, form.method.name).toBe(false)
  script = answering(iface, { value: '2' })
  return (await read()).cache.startsWith('hit') ? 'served' : 'ended'
}

const catalog = await loadCatalog([])
const chains = catalog.ids.map((id) => catalog.find(id)!).filter(({ cacheable }) => cacheable)
const offers = chains.flatMap((chain) =>
  [...chain.interfaces.values()].map((iface) => ({ chain, iface })),
)

/** The first interface with each classification: most chains inherit nearly all their methods. */
const firstWith = new Map<string, ChainInterface>()
function isFirst(key: string, iface: ChainInterface, method: MethodSpec): boolean {
  const classification = `${key} ${JSON.stringify(readOut(method))}`
  return firstWith.getOrInsert(classification, iface) === iface
}

describe.each(
  offers.map(({ chain, iface }) => [chain.id, iface.apiInterface, chain, iface] as const),
)('%s %s', (_, __, chain, iface) => {
  const offered = new Offered(chain, iface)
  const silentHere = (silent[offered.key] ?? []).flatMap(([, names]) => names.split(/\s+/))
  /** A result about a block that the request names proves that the block exists. */
  const isSilent = ({ name, method }: Form) =>
    silentHere.includes(method.name) && name !== 'number' && name !== 'hash'
  const own = new Map<Offered, readonly Form[]>()
  const forms = (of = offered) =>
    own.getOrInsertComputed(of, () =>
      [...iface.methods]
        .flatMap((method) => of.formsOf(method))
        .filter(({ method }) => method.kind !== 'subscribe' && isFirst(offered.key, iface, method)),
    )
  const where = async (
    wanted: 'served' | 'ended',
    tried: readonly Form[],
    of = offered,
    withHeader?: boolean,
  ) => {
    const found: string[] = []
    for (const form of tried)
      if ((await readAfter(of, form, withHeader)) === wanted)
        found.push(`${form.method.name} (${form.name})`)
    return found
  }

  test('after an answer that reveals a new block, nothing older is served', async () => {
    const showing = forms().filter((form) => !isSilent(form))
    const why = 'the spec must say where the answer shows its block, or `silent` why it shows none'
    expect(await where('served', showing), why).toEqual([])
  })

  test('without the head header, nothing older is served if the call names the block', async () => {
    const naming = forms().filter(
      ({ method }) => method.tipHeader && (placeOf(method) ?? method.impliesBlock),
    )
    expect(await where('served', naming, offered, false)).toEqual([])
  })

  test('an answer that reveals no block invalidates nothing', async () => {
    expect(await where('ended', forms().filter(isSilent))).toEqual([])
  })

  test('an answer that reveals an old block invalidates nothing', async () => {
    const past = new Offered(chain, iface, known - 50)
    const showing = forms(past).filter(
      ({ name, method }) =>
        !method.showsUnnamed &&
        !['safe', 'finalized'].includes(name) &&
        (name === 'number' || method.tipHeader || placeOf(method)),
    )
    expect(await where('ended', showing, past)).toEqual([])
  })
})

/** Path of the block number in an answer; null if there is only a header or a hash. */
function placeOf({ tellsTip, showsBlock }: MethodSpec) {
  const place = tellsTip ?? showsBlock
  return place && place.header === undefined && place.path !== place.hash ? place : null
}

test('each method in `silent` exists and is listed once', () => {
  const known = offers.flatMap(({ chain, iface }) =>
    [...iface.methods].map((method) => `${keyOf(chain, iface)} ${method}`),
  )
  const named = Object.entries(silent).flatMap(([key, groups]) =>
    groups.flatMap(([, names]) => names.split(/\s+/).map((name) => `${key} ${name}`)),
  )
  expect(named.filter((each) => !known.includes(each))).toEqual([])
  expect(named.filter((each, index) => named.indexOf(each) !== index)).toEqual([])
})
