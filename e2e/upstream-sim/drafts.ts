// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getCreateAddress, type Transaction as SignedTransaction } from 'ethers'
import { transactionHashOf } from './hashes.ts'
import { addressWord, digest, type Hex, toData, toQuantity, toWord } from './hex.ts'
import type { Population } from './chain-state.ts'
import type { Transaction } from './shapes.ts'

/** What a log says, before it has a place in a block. */
export interface DraftLog {
  readonly address: Hex
  readonly topics: readonly Hex[]
  readonly data: Hex
}

/** A transaction and what it does, before it has a place in a block. */
export interface Draft {
  readonly transaction: Omit<Transaction, 'blockHash' | 'blockNumber' | 'transactionIndex'>
  readonly gasUsed: number
  readonly succeeds: boolean
  readonly contractAddress: Hex | null
  readonly logs: readonly DraftLog[]
}

/** keccak256 of `Transfer(address,address,uint256)`. */
export const transferTopic: Hex =
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** keccak256 of `Approval(address,address,uint256)`. */
const approvalTopic: Hex = '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925'

const gwei = 1_000_000_000

/** Transaction `ordinal` of the population, as `branch` has it: a transfer, a call, a deployment. */
export function draftOf(
  chain: { readonly seed: string; readonly chainId: number; readonly population: Population },
  place: { readonly branch: number; readonly ordinal: number },
  baseFeeWei: number,
): Draft {
  const { population } = chain
  const dice = digest(chain.seed, 'draft', place.branch, place.ordinal)
  const { from, nonce } = population.senderOf(place.ordinal)
  const pick = (list: readonly Hex[], at: number) => list[dice[at]! % list.length]!
  const peer = pick(population.accounts, 0)
  const token = pick(population.contracts, 1)
  const amount = BigInt(dice.readUInt32BE(2)) * BigInt(gwei)
  const priorityWei = (1 + (dice[6]! % 3)) * gwei
  const eip1559 = dice[7]! % 4 !== 0
  const transferLog = (address: Hex, to: Hex): DraftLog => ({
    address,
    topics: [transferTopic, `0x${addressWord(from)}`, `0x${addressWord(to)}`],
    data: `0x${toWord(amount)}`,
  })
  const call = (to: Hex, selector: string): Pick<Transaction, 'to' | 'value' | 'input'> => ({
    to,
    value: '0x0',
    input: `0x${selector}${addressWord(peer)}${toWord(amount)}`,
  })
  const kind = dice[8]! % 16
  const deed =
    kind < 4
      ? {
          body: { to: peer, value: toQuantity(amount), input: '0x' as Hex },
          gasUsed: 21_000,
          logs: [],
        }
      : kind < 12
        ? { body: call(token, 'a9059cbb'), gasUsed: 51_000, logs: [transferLog(token, peer)] }
        : kind < 14
          ? {
              body: call(token, '095ea7b3'),
              gasUsed: 87_000,
              logs: [
                {
                  address: token,
                  topics: [approvalTopic, `0x${addressWord(from)}`, `0x${addressWord(peer)}`],
                  data: `0x${toWord(amount)}`,
                } satisfies DraftLog,
                transferLog(pick(population.contracts, 9), peer),
              ],
            }
          : kind === 14
            ? { body: call(token, 'a9059cbb'), gasUsed: 32_000, logs: [], fails: true }
            : {
                body: { to: null, value: '0x0' as Hex, input: `0x6080${toWord(amount)}` as Hex },
                gasUsed: 120_000,
                logs: [],
              }
  const common = {
    chainId: toQuantity(chain.chainId),
    nonce: toQuantity(nonce),
    from,
    ...deed.body,
    gas: toQuantity(deed.gasUsed + 20_000),
    gasPrice: toQuantity(baseFeeWei + priorityWei),
    r: `0x1${toData(digest(chain.seed, 'r', place.branch, place.ordinal)).slice(3)}` as Hex,
    s: `0x1${toData(digest(chain.seed, 's', place.branch, place.ordinal)).slice(3)}` as Hex,
  }
  const unhashed: Omit<Draft['transaction'], 'hash'> = eip1559
    ? {
        ...common,
        type: '0x2',
        maxFeePerGas: toQuantity(2 * baseFeeWei + priorityWei),
        maxPriorityFeePerGas: toQuantity(priorityWei),
        accessList: [],
        yParity: toQuantity(dice[10]! % 2),
        v: toQuantity(dice[10]! % 2),
      }
    : { ...common, type: '0x0', v: toQuantity(chain.chainId * 2 + 35 + (dice[10]! % 2)) }
  return {
    transaction: { hash: transactionHashOf(unhashed), ...unhashed },
    gasUsed: deed.gasUsed,
    succeeds: !('fails' in deed),
    contractAddress: deed.body.to === null ? contractAddressOf(from, nonce) : null,
    logs: deed.logs,
  }
}

/** A transaction that a client signed and sent. It always succeeds and logs nothing. */
export function draftOfSigned(signed: SignedTransaction, baseFeeWei: number): Draft {
  const signature = signed.signature!
  const tipWei = signed.maxPriorityFeePerGas ?? 0n
  const capWei = signed.maxFeePerGas ?? 0n
  const offeredWei = BigInt(baseFeeWei) + tipWei
  const from = signed.from!.toLowerCase() as Hex
  const eip1559 = signed.type === 2
  return {
    transaction: {
      hash: signed.hash as Hex,
      type: toQuantity(signed.type ?? 0),
      chainId: toQuantity(signed.chainId),
      nonce: toQuantity(signed.nonce),
      from,
      to: (signed.to?.toLowerCase() ?? null) as Hex | null,
      value: toQuantity(signed.value),
      gas: toQuantity(signed.gasLimit),
      gasPrice: toQuantity(
        eip1559 ? (offeredWei < capWei ? offeredWei : capWei) : (signed.gasPrice ?? 0n),
      ),
      ...(eip1559
        ? { maxFeePerGas: toQuantity(capWei), maxPriorityFeePerGas: toQuantity(tipWei) }
        : {}),
      ...(signed.type === 0
        ? {}
        : { accessList: signed.accessList ?? [], yParity: toQuantity(signature.yParity) }),
      input: signed.data as Hex,
      v: toQuantity(
        signed.type === 0 ? (signature.networkV ?? BigInt(signature.v)) : signature.yParity,
      ),
      r: toQuantity(BigInt(signature.r)),
      s: toQuantity(BigInt(signature.s)),
    },
    gasUsed: intrinsicGas(signed.data, signed.to === null),
    succeeds: true,
    contractAddress: signed.to === null ? contractAddressOf(from, signed.nonce) : null,
    logs: [],
  }
}

/** What a transaction costs before anything runs: 21,000, its data, and a creation. */
export function intrinsicGas(data: string, creates: boolean): number {
  return 21_000 + (creates ? 32_000 : 0) + 16 * ((data.length - 2) / 2)
}

function contractAddressOf(from: Hex, nonce: number): Hex {
  return getCreateAddress({ from, nonce }).toLowerCase() as Hex
}
