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
const whenObject = (forge: (object: Json) => unknown) => (result: Json) =>
  typeof result === 'object' && result !== null ? forge(result) : undefined

/** Each with `of`, and a name that says which method it is about. */
function about(of: string, lies: Readonly<Record<string, Lie['forge']>>): readonly Lie[] {
  return Object.entries(lies).map(([name, forge]) => ({ name: `${of}: ${name}`, of, forge }))
}

export const bitcoinLies: readonly Lie[] = [
  ...about('getblock', { 'another hash': whenObject(having(['hash'], another)) }),
  ...about('getblockheader', { 'another hash': whenObject(having(['hash'], another)) }),
  ...about('getrawtransaction', { 'another transaction': whenObject(having(['txid'], another)) }),
]

export const slotLies: readonly Lie[] = [
  ...about('getBlock', {
    'a parent above it': having(['parentSlot'], (slot: number) => slot + 1_000_000),
    'a parent far below it': having(['parentSlot'], (slot: number) => slot - 1_000_000),
  }),
  ...about('getTransaction', {
    'another signature': having(['transaction', 'signatures', 0], another),
  }),
]

export const hubRestLies: readonly Lie[] = [
  ...about('GET /cosmos/base/tendermint/v1beta1/blocks/{height}', {
    'another height': having(['block', 'header', 'height'], next),
  }),
]

export const hubTendermintLies: readonly Lie[] = [
  ...about('block', { 'another height': having(['block', 'header', 'height'], next) }),
  ...about('block_by_hash', { 'another hash': having(['block_id', 'hash'], another) }),
  ...about('header', { 'another height': having(['header', 'height'], next) }),
  ...about('commit', { 'another height': having(['signed_header', 'header', 'height'], next) }),
  ...about('block_results', { 'another height': having(['height'], next) }),
  ...about('validators', { 'another height': having(['block_height'], next) }),
]

export const moveLies: readonly Lie[] = [
  ...about('GET /blocks/by_height/{height}', {
    'another height': having(['block_height'], next),
  }),
  ...about('GET /transactions/by_version/{version}', {
    'another version': having(['version'], next),
  }),
  ...about('GET /transactions/by_hash/{hash}', { 'another hash': having(['hash'], another) }),
]
