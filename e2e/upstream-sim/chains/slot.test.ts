// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  address,
  appendTransactionMessageInstruction,
  createSolanaRpc,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isSolanaError,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { Connection, Keypair, LAMPORTS_PER_SOL, SystemProgram, Transaction } from '@solana/web3.js'
import { expect, test } from 'vitest'
import { serveRouter, uncached } from '../../served/served-router.ts'
import { serveNode } from '../served-node.ts'
import { SlotChain } from './slot-chain.ts'
import { slotNode } from './slot-node.ts'

async function routed(chain: SlotChain) {
  const stack = new AsyncDisposableStack()
  const nodes = await Promise.all(
    ['a', 'b'].map(async (name) =>
      stack.use(await serveNode((faults) => slotNode(chain, faults), { name })),
    ),
  )
  // The chain grows faster than the router polls its head.
  const settings = { ...uncached, 'skip-websocket-verification': true }
  const router = stack.use(await serveRouter({ chainId: 'SLOTCHAIN', primaries: nodes, settings }))
  return { nodes, url: router.url, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

test('blocks link to their parents, and one slot in twenty is skipped', () => {
  const chain = new SlotChain()
  const slots = Array.from({ length: 100 }, (_, at) => chain.head - 100 + at)
  const filled = slots.map((slot) => chain.block(slot)).filter((block) => block !== null)
  expect(filled).toHaveLength(95)
  for (const [at, block] of filled.entries()) {
    const parent = filled[at - 1]
    if (!parent) continue
    expect(block.previousBlockhash).toBe(parent.blockhash)
    expect(block.parentSlot).toBe(parent.slot)
    expect(block.blockHeight).toBe(parent.blockHeight + 1)
  }
})

test('@solana/kit reads through the router', async () => {
  const chain = new SlotChain()
  await using routing = await routed(chain)
  const rpc = createSolanaRpc(routing.url)
  const confirmed = await rpc.getSlot({ commitment: 'confirmed' }).send()
  expect(Number(confirmed)).toBe(chain.filled(chain.head - 1))
  expect(await rpc.getHealth().send()).toBe('ok')
  const key = address('4Qkev8aNZcqFNSRhQzwyLMFSsi94jHqE8WNVTJzTP99F')
  const { context, value } = await rpc.getBalance(key, { commitment: 'finalized' }).send()
  expect(context.slot).toBeLessThan(confirmed)
  expect(value).toBeGreaterThan(10_000_000_000n)
  expect((await rpc.getMultipleAccounts([key, key]).send()).value).toHaveLength(2)
  const slot = BigInt(chain.filled(chain.head - 50))
  const block = await rpc.getBlock(slot, { maxSupportedTransactionVersion: 0 }).send()
  expect(block?.transactions.length).toBe(2)
  const skipped = slot - (slot % 20n) - 13n
  await expect(rpc.getBlock(skipped).send()).rejects.toSatisfy((error) => isSolanaError(error))
})

test('@solana/kit sends a transaction through the router, and finds it', async () => {
  const chain = new SlotChain()
  await using routing = await routed(chain)
  const rpc = createSolanaRpc(routing.url)
  const payer = await generateKeyPairSigner()
  const { value: lifetime } = await rpc.getLatestBlockhash().send()
  const noted = {
    programAddress: address('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
    data: new TextEncoder().encode('hello'),
  }
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayerSigner(payer, made),
    (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
    (made) => appendTransactionMessageInstruction(noted, made),
  )
  const transaction = await signTransactionMessageWithSigners(message)
  const wire = getBase64EncodedWireTransaction(transaction)
  const signature = await rpc.sendTransaction(wire, { encoding: 'base64' }).send()
  expect(signature).toBe(getSignatureFromTransaction(transaction))
  // Every node has accepted it, and knows it when it is sent again.
  const sent = () => routing.nodes.map(({ calls }) => calls.count('sendTransaction'))
  await expect.poll(sent).toEqual([1, 1])
  expect(await rpc.sendTransaction(wire, { encoding: 'base64' }).send()).toBe(signature)
  const [before] = (await rpc.getSignatureStatuses([signature]).send()).value
  expect(before).toBeNull()
  chain.mine(3)
  const [status] = (await rpc.getSignatureStatuses([signature]).send()).value
  expect(status).toMatchObject({ err: null, confirmationStatus: 'confirmed' })
  const found = await rpc
    .getTransaction(signature, {
      maxSupportedTransactionVersion: 0,
      commitment: 'confirmed',
      encoding: 'json',
    })
    .send()
  expect(found?.transaction.signatures).toEqual([signature])
  // Each node reports it as processed and returns its signature.
  expect(await rpc.sendTransaction(wire, { encoding: 'base64' }).send()).toBe(signature)
})

test('@solana/web3.js sends a transaction through the router, and finds it', async () => {
  const chain = new SlotChain()
  await using routing = await routed(chain)
  const connection = new Connection(routing.url, 'confirmed')
  const [payer, payee] = [Keypair.generate(), Keypair.generate()]
  const before = await connection.getBalance(payer.publicKey)
  const lifetime = await connection.getLatestBlockhash()
  const transaction = new Transaction({ feePayer: payer.publicKey, ...lifetime }).add(
    SystemProgram.transfer({
      fromPubkey: payer.publicKey,
      toPubkey: payee.publicKey,
      lamports: LAMPORTS_PER_SOL,
    }),
  )
  transaction.sign(payer)
  const signature = await connection.sendRawTransaction(transaction.serialize())
  expect((await connection.getSignatureStatus(signature)).value).toBeNull()
  chain.mine(3)
  expect((await connection.getSignatureStatus(signature)).value?.err).toBeNull()
  const found = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 })
  expect(found?.transaction.signatures).toEqual([signature])
  expect(await connection.getBalance(payer.publicKey)).toBe(before - 5_000)
})
