// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { MirrorNode } from '../rest/mirror-node.ts'
import { serveRouter } from '../served/served-router.ts'

/*
 * Cosmos nodes refuse a transaction in a result, and another node may accept it.
 */

type Result = Readonly<Record<string, unknown>>

/** Hash of the transaction in all calls. */
const hash = createHash('sha256').update(Buffer.from('AQ==', 'base64')).digest('hex').toUpperCase()
const taken = { code: 0, data: '', log: '', codespace: '', hash }
const fee = { ...taken, code: 13, log: 'insufficient fees; got: 1uatom: insufficient fee' }
const known = { ...taken, code: 19, log: 'tx already in mempool' }
const full = { ...taken, code: 20, log: 'mempool is full' }
/** A result that contains text of the client. */
const tricky = {
  ...taken,
  code: 5,
  log: '0ratelimit is smaller than 1ratelimit: too many requests',
}

const rest = ({ log, ...others }: typeof taken) => ({ tx_response: { ...others, raw_log: log } })
const committed = (check_tx: Result) => ({ check_tx, deliver_tx: { code: 5 }, height: '7' })

type Wire = 'rest' | 'tendermintrpc'

/** A router with nodes that return a result after a delay, and optionally another result later. */
async function served(wire: Wire, results: readonly (readonly [Result, number, Result?])[]) {
  const stack = new AsyncDisposableStack()
  const nodes: MirrorNode[] = []
  for (const [at, [first, delayMs, later = first]] of results.entries()) {
    const node = new MirrorNode(`node-${at}`, ({ body }, response) => {
      const result = node.requests.length > 1 ? later : first
      const { id } = JSON.parse(body.toString() || '{}') as { id?: number }
      const answer = wire === 'rest' ? result : { jsonrpc: '2.0', id: id ?? -1, result }
      setTimeout(() => {
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      }, delayMs)
    })
    nodes.push(stack.use(await node.start()))
  }
  const router = stack.use(
    await serveRouter({
      chainId: 'HUBCHAIN',
      apiInterface: wire,
      primaries: nodes,
      urlSettings: Object.fromEntries(
        nodes.map(({ name }) => [name, { 'skip-verifications': ['*'] }]),
      ),
      settings: { 'skip-websocket-verification': true },
    }),
  )
  for (const node of nodes) node.requests.length = 0
  const send = async (method = 'broadcast_tx_sync', id = 1, tx = 'AQ==') => {
    const isRest = wire === 'rest'
    const path = isRest ? '/cosmos/tx/v1beta1/txs' : ''
    const body = isRest
      ? { tx_bytes: tx, mode: 'BROADCAST_MODE_SYNC' }
      : { jsonrpc: '2.0', id, method, params: { tx } }
    const response = await fetch(router.url + path, { method: 'POST', body: JSON.stringify(body) })
    const by = response.headers.get('rpc-provider-address')
    const answer = (await response.json()) as { result?: Result }
    return { by, status: response.status, result: isRest ? answer : answer.result }
  }
  return { nodes, send, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const wires: readonly [Wire, (result: typeof taken) => Result][] = [
  ['tendermintrpc', (result) => result],
  ['rest', rest],
]

test.each(wires)('over %s the answer of the accepting node counts', async (wire, inForm) => {
  for (const refusal of [fee, known, full, tricky]) {
    await using own = await served(wire, [
      [inForm(refusal), 0],
      [inForm(taken), 60],
    ])
    expect(await own.send()).toEqual({ by: 'node-1', status: 200, result: inForm(taken) })
  }
})

test.each(wires)(
  'over %s the most specific refusal is forwarded unchanged',
  async (wire, inForm) => {
    await using own = await served(wire, [
      [inForm(full), 0],
      [inForm(fee), 30],
    ])
    expect(await own.send()).toEqual({ by: 'node-1', status: 200, result: inForm(fee) })
    await using again = await served(wire, [
      [inForm(fee), 0],
      [inForm(known), 30],
    ])
    expect(await again.send()).toMatchObject({ by: 'node-1', result: inForm(known) })
  },
)

test.each(wires)(
  'over %s a repetition gets the answer of the accepting node',
  async (wire, inForm) => {
    await using own = await served(wire, [[inForm(taken), 0, inForm(known)]])
    for (const id of [1, 2, 3])
      expect(await own.send('broadcast_tx_sync', id)).toMatchObject({
        status: 200,
        result: inForm(taken),
      })
    expect(own.nodes[0]!.requests).toHaveLength(3)
    const other = await own.send('broadcast_tx_sync', 4, 'Ag==')
    expect(other).toMatchObject({ result: inForm(known) })
  },
)

test.each(wires)(
  'over %s text in a result neither blames a node nor starts a cooldown',
  async (wire, inForm) => {
    await using own = await served(wire, [[inForm(tricky), 0]])
    for (let times = 1; times <= 12; times++) {
      expect(await own.send()).toMatchObject({ by: 'node-0', result: inForm(tricky) })
      expect(own.nodes[0]!.requests).toHaveLength(times)
    }
  },
)

test('the outcome in its block is the answer, not the check of a node', async () => {
  await using own = await served('tendermintrpc', [
    [committed(known), 0],
    [committed(taken), 60],
  ])
  expect(await own.send('broadcast_tx_commit')).toMatchObject({ by: 'node-1' })
})
