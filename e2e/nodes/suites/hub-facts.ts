// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hubDenomination } from '../hub-chain.ts'
import type { WasmdNode } from '../wasmd.ts'

/** Facts of the hub chain, for requests with a result. */
export interface HubFacts {
  readonly user: string
  readonly operator: string
  readonly consensusAddress: string
  readonly contract: string
  /** Hashes of transactions, upper-case hex. */
  readonly transactions: readonly string[]
  readonly head: number
  readonly blockHash: string
}

/** Reads the facts from a node, over REST and Tendermint RPC. */
export async function hubFacts({ restUrl, tendermintUrl }: WasmdNode): Promise<HubFacts> {
  const rest = async <T>(path: string) => answerOf<T>(`${restUrl}${path}`)
  const { validators } = await rest<{ validators: [{ operator_address: string }] }>(
    '/cosmos/staking/v1beta1/validators',
  )
  const { info } = await rest<{ info: [{ address: string }] }>(
    '/cosmos/slashing/v1beta1/signing_infos',
  )
  const { contracts } = await rest<{ contracts: [string] }>('/cosmwasm/wasm/v1/code/1/contracts')
  const { contract_info } = await rest<{ contract_info: { creator: string } }>(
    `/cosmwasm/wasm/v1/contract/${contracts[0]}`,
  )
  const { result: found } = await answerOf<{ result: { txs: { hash: string }[] } }>(
    `${tendermintUrl}/tx_search?query="tx.height>0"&order_by="asc"`,
  )
  const { result: latest } = await answerOf<{
    result: { block_id: { hash: string }; block: { header: { height: string } } }
  }>(`${tendermintUrl}/block`)
  return {
    user: contract_info.creator,
    operator: validators[0].operator_address,
    consensusAddress: info[0].address,
    contract: contracts[0],
    transactions: found.txs.map(({ hash }) => hash),
    head: Number(latest.block.header.height),
    blockHash: latest.block_id.hash,
  }
}

async function answerOf<T>(url: string): Promise<T> {
  const response = await fetch(url)
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as T
}

/** Values for the parameters of REST paths, by name. */
export function restParameters(facts: HubFacts): Readonly<Record<string, readonly string[]>> {
  const { user, operator, consensusAddress, contract, transactions, head } = facts
  const smart = Buffer.from('{"verifier":{}}').toString('base64')
  return {
    height: ['1', String(head - 2), String(head + 9), '0'],
    hash: [transactions[0] ?? '', 'AB'.repeat(32)],
    address: [user, contract],
    address_bytes: ['AQID'],
    name: ['bank', 'gov'],
    denom: [hubDenomination, 'ibc%2FABC', 'a/b'],
    id: ['1'],
    granter: [user],
    grantee: [user],
    validator_addr: [operator],
    validator_address: [operator],
    delegator_addr: [user],
    delegator_address: [user],
    cons_address: [consensusAddress],
    period: ['1'],
    proposal_id: ['1'],
    depositor: [user],
    voter: [user],
    params_type: ['voting', 'tallying'],
    code_id: ['1', '9'],
    creator_address: [user],
    query_data: [smart, encodeURIComponent(smart)],
    port_id: ['transfer'],
    channel_id: ['channel-0'],
    client_id: ['07-tendermint-0', '09-localhost'],
    connection_id: ['connection-localhost', 'connection-0'],
    connection: ['connection-0'],
    interface_name: ['cosmos.base.v1beta1.Msg'],
    sequence: ['1'],
    owner: [user],
  }
}
