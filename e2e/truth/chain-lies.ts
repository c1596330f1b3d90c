// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { having, type Json, type Lie } from './lying-node.ts'

/*
 * What a node can say that the checks of each chain's spec know for untrue. Of what they do not know
 * nothing stands here: `docs/concepts/integrity.md` tells it.
 */

/** Another word of the same length and kind. */
function another(text: string): string {
  const [first = ''] = text.replace(/^0x/, '')
  const other = /[0-9a-f]/i.test(first) && first !== '1' ? '1' : '2'
  return text.startsWith('0x') ? `0x${other}${text.slice(3)}` : `${other}${text.slice(1)}`
}
const next = (value: string | number) =>
  typeof value === 'string' ? String(Number(value) + 1) : value + 1
const gone = () => undefined
const half = (text: string) => text.slice(text.length / 2)
/** A transaction of Bitcoin ends in its lock time. */
const otherEnd = (raw: string) => `${raw.slice(0, -8)}${another(raw.slice(-8))}`
const otherId = (tx: Json) =>
  typeof tx === 'string' ? another(tx) : { ...tx, txid: another(tx.txid) }
const whenText = (forge: (text: string) => unknown) => (result: Json) =>
  typeof result === 'string' ? forge(result) : undefined
const whenObject = (forge: (object: Json) => unknown) => (result: Json) =>
  typeof result === 'object' && result !== null ? forge(result) : undefined

/** Each with `of`, and a name that says which method it is about. */
function about(of: string, lies: Readonly<Record<string, Lie['forge']>>): readonly Lie[] {
  return Object.entries(lies).map(([name, forge]) => ({ name: `${of}: ${name}`, of, forge }))
}

export const bitcoinLies: readonly Lie[] = [
  ...about('getblockcount', {
    'a text': () => '300',
    'half a block': (height: number) => height + 0.5,
    null: () => null,
  }),
  ...about('getbestblockhash', { 'a number': () => 300, 'half a hash': half }),
  ...about('getblockhash', {
    'a number': () => 300,
    'half a hash': half,
    'no hash': () => 'zz'.repeat(32),
    'a hash of Ethereum': (hash: string) => `0x${hash}`,
    null: () => null,
  }),
  ...about('getblock', {
    'another hash': whenObject(having(['hash'], another)),
    'no hash': whenObject(having(['hash'], gone)),
    'a height in words': whenObject(having(['height'], String)),
    'transactions that are no list': whenObject(having(['tx'], () => 'none')),
    'another time': whenObject(having(['time'], next)),
    'another parent': whenObject(having(['previousblockhash'], another)),
    'a transaction too many': whenObject(having(['tx'], (list: Json[]) => [...list, list[0]])),
    'other bytes': whenObject(having(['tx', 0, 'hex'], otherEnd)),
    'other transactions': whenObject(having(['tx'], (list: Json[]) => list.map(otherId))),
    'another raw block': whenText((raw) => `${raw.slice(0, 8)}${another(raw.slice(8))}`),
    'half a raw block': whenText((raw) => raw.slice(0, 100)),
    'a raw block that is its header': whenText((raw) => raw.slice(0, 160)),
    'a raw block without its last byte': whenText((raw) => raw.slice(0, -2)),
    'a raw block with a byte too much': whenText((raw) => `${raw}00`),
    'a raw block of other transactions': whenText(otherEnd),
    null: () => null,
  }),
  ...about('getblockheader', {
    'another hash': whenObject(having(['hash'], another)),
    'no height': whenObject(having(['height'], gone)),
    'another root': whenObject(having(['merkleroot'], another)),
    'another nonce': whenObject(having(['nonce'], next)),
    'another version': whenObject(having(['version'], next)),
    'another raw header': whenText((raw) => `${raw.slice(0, 20)}${another(raw.slice(20))}`),
    'a raw header with a byte too much': whenText((raw) => `${raw}00`),
    null: () => null,
  }),
  ...about('getblockstats', {
    'a number': () => 5,
    null: () => null,
  }),
  ...about('getrawtransaction', {
    'another transaction': whenObject(having(['txid'], another)),
    'other bytes': whenObject(having(['hex'], otherEnd)),
    'another raw transaction': whenText(otherEnd),
    'half a raw transaction': whenText(half),
    'a raw transaction with a byte too much': whenText((raw) => `${raw}00`),
    null: () => null,
  }),
]

export const slotLies: readonly Lie[] = [
  ...about('getGenesisHash', { 'of another chain': (hash: string) => another(hash) }),
  ...about('getSlot', { 'a text': String, null: () => null }),
  ...about('getBlockHeight', { 'a text': String, null: () => null }),
  ...about('getBlock', {
    'a parent above it': having(['parentSlot'], (slot: number) => slot + 1_000_000),
    'a parent far below it': having(['parentSlot'], (slot: number) => slot - 1_000_000),
    'no hash': having(['blockhash'], gone),
    'a hash that is a number': having(['blockhash'], () => 7),
    'no parent': having(['previousBlockhash'], gone),
    'a list': () => [],
  }),
  ...about('getBlocks', { null: () => null, 'an object': () => ({}) }),
  ...about('getTransaction', {
    'another signature': having(['transaction', 'signatures', 0], another),
    'no slot': having(['slot'], gone),
    'a text': () => 'done',
  }),
  ...about('getSignatureStatuses', {
    'one too few': having(['value'], (list: Json[]) => list.slice(1)),
    'one too many': having(['value'], (list: Json[]) => [...list, null]),
  }),
  ...about('getBalance', { 'no number': having(['value'], String), 'a bare number': () => 5 }),
  ...about('getMultipleAccounts', {
    'one too few': having(['value'], (list: Json[]) => list.slice(1)),
  }),
  ...about('getLatestBlockhash', { 'no value': having(['value'], gone), null: () => null }),
]

const hubBlock = {
  'another last commit': having(['block', 'last_commit', 'height'], next),
  'another height': having(['block', 'header', 'height'], next),
  'a height that is a number': having(['block', 'header', 'height'], Number),
  'no height': having(['block', 'header', 'height'], gone),
  'no hash': having(['block_id', 'hash'], gone),
  'a hash that is a number': having(['block_id', 'hash'], () => 5),
  'no block': having(['block'], () => null),
  nothing: () => ({}),
  null: () => null,
}

export const hubRestLies: readonly Lie[] = [
  ...about('GET /cosmos/base/tendermint/v1beta1/blocks/{height}', hubBlock),
]

export const hubTendermintLies: readonly Lie[] = [
  ...about('block', {
    ...hubBlock,
    'another parent': having(['block', 'header', 'last_block_id', 'hash'], another),
  }),
  ...about('block_by_hash', {
    'another hash': having(['block_id', 'hash'], another),
    'no hash': having(['block_id', 'hash'], gone),
  }),
  ...about('header', { 'another height': having(['header', 'height'], next), null: () => null }),
  ...about('commit', {
    'another height': having(['signed_header', 'header', 'height'], next),
    'no header': having(['signed_header'], gone),
    null: () => null,
  }),
  ...about('block_results', { 'another height': having(['height'], next), 'a list': () => [] }),
  ...about('validators', { 'another height': having(['block_height'], next), null: () => null }),
]

export const moveLies: readonly Lie[] = [
  ...about('GET /blocks/by_height/{height}', {
    'another height': having(['block_height'], next),
    'no height': having(['block_height'], gone),
    'a height that is a number': having(['block_height'], Number),
    'no hash': having(['block_hash'], gone),
    'half a hash': having(['block_hash'], (hash: string) => hash.slice(0, 20)),
    'no versions': having(['first_version'], gone),
    'a list': () => [],
    null: () => null,
  }),
  ...about('GET /blocks/by_version/{version}', {
    'no height': having(['block_height'], gone),
    'half a hash': having(['block_hash'], (hash: string) => hash.slice(0, 20)),
    'no versions': having(['last_version'], gone),
    null: () => null,
  }),
  ...about('GET /transactions/by_version/{version}', {
    'another version': having(['version'], next),
    'no hash': having(['hash'], gone),
    'no version': having(['version'], gone),
    null: () => null,
  }),
  ...about('GET /transactions/by_hash/{hash}', {
    'another hash': having(['hash'], another),
    'no hash': having(['hash'], gone),
    'no type': having(['type'], gone),
    'a list': (transaction: Json) => [transaction],
  }),
  ...about('GET /transactions', { 'an object': () => ({}), null: () => null }),
  ...about('GET /accounts/{address}', {
    'no sequence number': having(['sequence_number'], gone),
    'a sequence number that is a number': having(['sequence_number'], Number),
    null: () => null,
  }),
  ...about('GET /estimate_gas_price', {
    'no estimate': having(['gas_estimate'], gone),
    'an estimate in words': having(['gas_estimate'], String),
  }),
]
