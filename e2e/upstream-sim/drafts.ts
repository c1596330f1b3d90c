// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getCreateAddress, id, Transaction as SignedTransaction } from 'ethers'
import type { Population } from './chain-state.ts'
import { digest, type Hex, toData, toQuantity } from './hex.ts'

export const transferTopic = id('Transfer(address,address,uint256)') as Hex
const approvalTopic = id('Approval(address,address,uint256)') as Hex
const transfer = id('transfer(address,uint256)').slice(0, 10)
const approve = id('approve(address,uint256)').slice(0, 10)

const gwei = 1_000_000_000

/** A transaction and its effects, before it is in a block. */
export type Draft = ReturnType<typeof draftOfSigned>

/** The content of a log, before it is in a block. */
export interface DraftLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

interface Effects {
  readonly gasUsed: number
  readonly logs: readonly DraftLog[]
  readonly fails?: true
}

/** The generated transaction with this ordinal on a branch: a transfer, a call or a deployment. */
export function draftOf(
  chain: { readonly seed: string; readonly chainId: number; readonly population: Population },
  position: { readonly branch: number; readonly ordinal: number },
  baseFeeWei: number,
): Draft {
  const { seed, chainId, population } = chain
  const dice = digest(seed, 'draft', position.branch, position.ordinal)
  const { from, nonce } = population.senderOf(position.ordinal)
  const pick = (list: readonly Hex[], at: number) => list[dice[at]! % list.length]!
  const peer = pick(population.accounts, 0)
  const contract = pick(population.contracts, 1)
  const amount = BigInt(dice.readUInt32BE(2)) * BigInt(gwei)
  const call = (selector: string) => ({
    to: contract,
    data: `${selector}${word(peer)}${word(amount)}`,
  })
  const log = (address: Hex, topic: Hex): DraftLog => ({
    address,
    topics: [topic, `0x${word(from)}`, `0x${word(peer)}`],
    data: `0x${word(amount)}`,
  })
  const kind = dice[8]! % 16
  const pays = { body: { to: peer, value: amount }, effects: { gasUsed: 21_000, logs: [] } }
  const transfers = {
    body: call(transfer),
    effects: { gasUsed: 51_000, logs: [log(contract, transferTopic)] },
  }
  const approves = {
    body: call(approve),
    effects: {
      gasUsed: 87_000,
      logs: [log(contract, approvalTopic), log(pick(population.contracts, 9), transferTopic)],
    },
  }
  const fails = {
    body: call(transfer),
    effects: { gasUsed: 32_000, logs: [], fails: true } as const,
  }
  const deploys = { body: { to: null, data: '0x6080' }, effects: { gasUsed: 120_000, logs: [] } }
  const { body, effects }: { readonly body: object; readonly effects: Effects } =
    kind < 4 ? pays : kind < 12 ? transfers : kind < 14 ? approves : kind < 15 ? fails : deploys
  const priorityWei = (1 + (dice[6]! % 3)) * gwei
  const fees =
    dice[7]! % 4 === 0
      ? { type: 0, gasPrice: baseFeeWei + priorityWei }
      : {
          type: 2,
          maxFeePerGas: 2 * baseFeeWei + priorityWei,
          maxPriorityFeePerGas: priorityWei,
        }
  const half = (name: string) =>
    `0x1${toData(digest(seed, name, position.branch, position.ordinal)).slice(3)}`
  const signature = { r: half('r'), s: half('s'), v: 27 + (dice[10]! % 2) }
  const unsigned = { chainId, nonce, gasLimit: effects.gasUsed + 20_000, ...body, ...fees }
  return draftOfSigned(
    SignedTransaction.from({ ...unsigned, signature }),
    baseFeeWei,
    from,
    effects,
  )
}

/** A transaction in the node's JSON. By default it succeeds without logs. */
export function draftOfSigned(
  signed: SignedTransaction,
  baseFeeWei: number,
  from = signed.from!.toLowerCase() as Hex,
  effects: Effects = { gasUsed: intrinsicGas(signed.data, signed.to === null), logs: [] },
) {
  const { chainId, nonce, data, to, value } = signed
  const { yParity, v, r, s } = signed.signature!
  const type = signed.type ?? 0
  const [tipWei, capWei] = [signed.maxPriorityFeePerGas ?? 0n, signed.maxFeePerGas ?? 0n]
  const offeredWei = BigInt(baseFeeWei) + tipWei
  const paidWei = offeredWei < capWei ? offeredWei : capWei
  return {
    transaction: {
      hash: signed.hash as Hex,
      type: toQuantity(type),
      chainId: toQuantity(chainId),
      nonce: toQuantity(nonce),
      from,
      to: (to?.toLowerCase() ?? null) as Hex | null,
      value: toQuantity(value),
      gas: toQuantity(signed.gasLimit),
      gasPrice: toQuantity(type === 2 ? paidWei : (signed.gasPrice ?? 0n)),
      ...(type === 2
        ? { maxFeePerGas: toQuantity(capWei), maxPriorityFeePerGas: toQuantity(tipWei) }
        : {}),
      ...(type === 0 ? {} : { accessList: signed.accessList ?? [], yParity: toQuantity(yParity) }),
      input: data as Hex,
      // EIP-155 includes a chain id in `v`.
      v: toQuantity(type !== 0 ? yParity : chainId === 0n ? v : chainId * 2n + 8n + BigInt(v)),
      r: toQuantity(BigInt(r)),
      s: toQuantity(BigInt(s)),
    },
    gasUsed: effects.gasUsed,
    succeeds: !effects.fails,
    contractAddress: to === null ? (getCreateAddress({ from, nonce }).toLowerCase() as Hex) : null,
    logs: effects.logs,
  }
}

/** Intrinsic gas: 21,000, plus the data, plus a contract creation. */
export function intrinsicGas(data: string, creates: boolean): number {
  return 21_000 + (creates ? 32_000 : 0) + 16 * ((data.length - 2) / 2)
}

/** Encodes a value as an ABI word, without `0x`. */
function word(value: Hex | bigint): string {
  const digits = typeof value === 'bigint' ? value.toString(16) : value.slice(2)
  return digits.padStart(64, '0')
}
