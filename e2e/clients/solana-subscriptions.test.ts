// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  type Address,
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createSolanaRpcSubscriptions,
  createTransactionMessage,
  generateKeyPairSigner,
  getSignatureFromTransaction,
  pipe,
  sendAndConfirmTransactionFactory,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { Connection, Keypair, SystemProgram, Transaction } from '@solana/web3.js'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { systemClock } from '../../proxy/clock/clock.ts'
import { serveRouter } from '../served/served-router.ts'
import { SlotChain } from '../upstream-sim/chains/slot-chain.ts'
import { slotNode } from '../upstream-sim/chains/slot-node.ts'
import { serveNode } from '../upstream-sim/served-node.ts'

/**
 * The library drops an event that it reads together with the answer to its subscription, which may
 * happen on a busy machine. If it drops the event of a signature, it waits forever.
 */
const mayLoseEvents = { retry: 3 }
const slow = { interval: 20 }
const slotMs = 100
const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' as Address
let stack = new AsyncDisposableStack()
afterEach(async () => {
  await stack.disposeAsync()
  stack = new AsyncDisposableStack()
})

/** Two nodes of a growing chain behind the router. */
async function route() {
  const chain = new SlotChain({ clock: systemClock, blockTimeMs: slotMs })
  const nodes = await Promise.all(
    ['a', 'b'].map(async (name) =>
      stack.use(await serveNode((faults) => slotNode(chain, faults), { name })),
    ),
  )
  const options = { chainId: 'SLOTCHAIN', primaries: nodes, sockets: true }
  const router = stack.use(await serveRouter(options))
  const subscribed = () => nodes.reduce((sum, { sockets }) => sum + sockets.subscriptions, 0)
  return { chain, nodes, router, subscribed }
}

function kitOf({
  router,
}: {
  readonly router: { readonly url: string; readonly socketUrl: string }
}) {
  const left = new AbortController()
  stack.defer(() => left.abort())
  const rpc = createSolanaRpc(router.url)
  const rpcSubscriptions = createSolanaRpcSubscriptions(router.socketUrl)
  return { rpc, rpcSubscriptions, abortSignal: left.signal }
}

/** A signed transaction with a unique note. */
async function noteBy(
  payer: Awaited<ReturnType<typeof generateKeyPairSigner>>,
  rpc: ReturnType<typeof createSolanaRpc>,
  note: string,
) {
  const { value: lifetime } = await rpc.getLatestBlockhash().send()
  const noted = { programAddress: memoProgram, data: new TextEncoder().encode(note) }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
    (made) => appendTransactionMessageInstruction(noted, made),
  )
  return signTransactionMessageWithSigners(message)
}

test('@solana/kit receives every slot, even after the subscribed node dies', async () => {
  const routed = await route()
  const { rpcSubscriptions, abortSignal } = kitOf(routed)
  const slots: { readonly slot: bigint; readonly parent: bigint }[] = []
  for await (const slot of await rpcSubscriptions.slotNotifications().subscribe({ abortSignal })) {
    slots.push(slot)
    if (slots.length % 10 === 5)
      routed.nodes.find(({ sockets }) => sockets.subscriptions > 0)?.sockets.cut()
    if (slots.length === 40) break
  }
  expect(slots.slice(1).map(({ parent }) => parent)).toEqual(
    slots.slice(0, -1).map(({ slot }) => slot),
  )
})

test(
  '@solana/kit sends and confirms, and receives changes of the account and its logs',
  mayLoseEvents,
  async () => {
    const routed = await route()
    const { rpc, rpcSubscriptions, abortSignal } = kitOf(routed)
    const payer = await generateKeyPairSigner()
    const { value: before } = await rpc.getBalance(payer.address).send()
    const account = rpcSubscriptions.accountNotifications(payer.address, {
      commitment: 'confirmed',
    })
    const logs = rpcSubscriptions.logsNotifications({ mentions: [payer.address] })
    const [accounts, signatures] = [[] as bigint[], [] as string[]]
    const collect = async <T>(all: AsyncIterable<T>, add: (one: T) => unknown) => {
      for await (const one of all) add(one)
    }
    const collecting = [
      collect(await account.subscribe({ abortSignal }), ({ value }) =>
        accounts.push(value.lamports),
      ),
      collect(await logs.subscribe({ abortSignal }), ({ value }) =>
        signatures.push(value.signature),
      ),
    ]
    const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc, rpcSubscriptions })
    const sent: string[] = []
    for (const note of ['one', 'two', 'three']) {
      const transaction = await noteBy(payer, rpc, note)
      sent.push(getSignatureFromTransaction(transaction))
      await sendAndConfirm(transaction as Parameters<typeof sendAndConfirm>[0], {
        abortSignal,
        commitment: 'confirmed',
      })
    }
    await expect.poll(() => signatures, slow).toEqual(sent)
    const fee = 5_000n
    await expect.poll(() => accounts, slow).toEqual([1n, 2n, 3n].map((at) => before - at * fee))
    await stack.disposeAsync()
    await Promise.all(collecting)
  },
)

test('@solana/web3.js confirms over the WebSocket, and leaks no subscription', async () => {
  const routed = await route()
  const { router, subscribed } = routed
  const connection = new Connection(router.url, {
    commitment: 'confirmed',
    // By default it uses the port after that of the URL.
    wsEndpoint: router.socketUrl,
  })
  const [payer, payee] = [Keypair.generate(), Keypair.generate()]
  const received = { slots: [] as number[], roots: [] as number[], logs: [] as string[] }
  const lamports: number[] = []
  const ids = {
    slot: connection.onSlotChange(({ slot }) => received.slots.push(slot)),
    root: connection.onRootChange((root) => received.roots.push(root)),
    logs: connection.onLogs(payer.publicKey, ({ signature }) => received.logs.push(signature)),
    account: connection.onAccountChange(payer.publicKey, (info) => lamports.push(info.lamports)),
  }
  // The router also subscribes to slots at each such node, to check that the socket is alive.
  await expect.poll(subscribed, slow).toBeGreaterThanOrEqual(4)
  const before = await connection.getBalance(payer.publicKey)
  const lifetime = await connection.getLatestBlockhash()
  const transaction = new Transaction({ feePayer: payer.publicKey, ...lifetime }).add(
    SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: payee.publicKey, lamports: 1 }),
  )
  transaction.sign(payer)
  const signature = await connection.sendRawTransaction(transaction.serialize())
  const { value } = await connection.confirmTransaction({ signature, ...lifetime })
  expect(value.err).toBeNull()
  await expect.poll(() => received.logs, slow).toEqual([signature])
  await expect.poll(() => lamports, slow).toEqual([before - 5_000])
  await expect
    .poll(() => [received.slots.length, received.roots.length].every((n) => n > 5), slow)
    .toBe(true)
  await connection.removeSlotChangeListener(ids.slot)
  await connection.removeRootChangeListener(ids.root)
  await connection.removeOnLogsListener(ids.logs)
  await connection.removeAccountChangeListener(ids.account)
  await expect.poll(subscribed, slow).toBe(0)
})

test('the pings of client libraries reach no node', async () => {
  const { nodes, router } = await route()
  const socket = new WebSocket(router.socketUrl)
  stack.defer(() => {
    socket.terminate()
  })
  const answers: unknown[] = []
  socket.on('message', (data: Buffer) => answers.push(JSON.parse(data.toString())))
  await new Promise((resolve) => socket.on('open', resolve))
  const send = (message: unknown) => {
    socket.send(JSON.stringify(message))
  }
  send({ jsonrpc: '2.0', method: 'ping' })
  send({ jsonrpc: '2.0', method: 'ping', params: null })
  send([{ jsonrpc: '2.0', method: 'ping' }])
  send({ jsonrpc: '2.0', id: 7, method: 'getHealth' })
  await expect.poll(() => answers, slow).toEqual([{ jsonrpc: '2.0', id: 7, result: 'ok' }])
  expect(nodes.map(({ calls }) => calls.count('ping'))).toEqual([0, 0])
})

test('WebSocket batches may contain subscriptions', async () => {
  const { router, subscribed } = await route()
  const socket = new WebSocket(router.socketUrl)
  stack.defer(() => {
    socket.terminate()
  })
  const messages: Record<string, unknown>[][] = []
  socket.on('message', (data: Buffer) => messages.push([JSON.parse(data.toString())].flat()))
  await new Promise((resolve) => socket.on('open', resolve))
  const calls = ['getHealth', 'slotSubscribe', 'getVersion', 'noSuchMethod', 'rootSubscribe']
  socket.send(JSON.stringify(calls.map((method, id) => ({ jsonrpc: '2.0', id, method }))))
  await expect.poll(() => messages.length, slow).toBeGreaterThan(5)
  const [first = [], ...later] = messages
  expect(first.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4])
  expect(first[0]?.['result']).toBe('ok')
  expect(first[3]?.['error']).toMatchObject({ code: -32601 })
  expect(new Set(later.flat().map(({ method }) => method))).toEqual(
    new Set(['slotNotification', 'rootNotification']),
  )
  socket.close()
  await expect.poll(subscribed, slow).toBe(0)
})
