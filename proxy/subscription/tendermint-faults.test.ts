// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { tendermintKit } from './chains/tendermint-kit.ts'
import { faults, faulty, pathsOf, valueAt, type Fault, type MemberPath } from './testing/faults.ts'
import { SubscriptionFixture } from './testing/subscription-fixture.ts'
import type { TestSocket } from './testing/test-socket.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const id = (height: number) => ({ hash: `AB${height}`, parts: { total: 1, hash: 'CD' } })

/** As CometBFT 0.38 answers. */
const block = (height: number) => ({
  block_id: id(height),
  block: {
    header: {
      version: { block: '11', app: '0' },
      chain_id: 'hub',
      height: String(height),
      time: '2026-01-01T00:00:00Z',
      last_block_id: id(height - 1),
      last_commit_hash: 'A1',
      data_hash: 'A2',
      validators_hash: 'A3',
      next_validators_hash: 'A4',
      consensus_hash: 'A5',
      app_hash: 'A6',
      last_results_hash: 'A7',
      evidence_hash: 'A8',
      proposer_address: 'A9',
    },
    data: { txs: [base64(`${height}/0`), base64(`${height}/1`)] },
    evidence: { evidence: [{ type: 'tendermint/DuplicateVoteEvidence', value: {} }] },
    last_commit: {
      height: String(height - 1),
      round: 0,
      block_id: id(height - 1),
      signatures: [
        { block_id_flag: 2, validator_address: 'B1', timestamp: '2026', signature: base64('sig') },
      ],
    },
  },
})
const event = {
  type: 'transfer',
  attributes: [{ key: 'recipient', value: 'me', index: true }],
}
const result = {
  code: 0,
  data: base64('data'),
  log: 'done',
  info: 'none',
  gas_wanted: '9',
  gas_used: '8',
  events: [event, { type: 'message', attributes: [] }],
  codespace: 'sdk',
}
const common = (height: number) => ({
  height: String(height),
  txs_results: [result, result],
  validator_updates: [{ power: '1' }],
  consensus_param_updates: { block: { max_gas: '-1' } },
})
const versions = {
  'CometBFT 0.38': (height: number) => ({
    ...common(height),
    finalize_block_events: [event],
    app_hash: 'AA==',
  }),
  'CometBFT 0.34': (height: number) => ({
    ...common(height),
    begin_block_events: [event],
    end_block_events: [event],
  }),
}
type Version = keyof typeof versions

interface Lie {
  readonly method: string
  readonly answer: unknown
}

/** Blocks 11 and 12, the first of which was missed; whoever is asked first lies about it. */
async function told(query: string, version: Version, lie: Lie | null): Promise<unknown[]> {
  let head = 10
  const fixture = await SubscriptionFixture.create({
    chainId: 'HUBCHAIN',
    apiInterface: 'tendermintrpc',
    kit: tendermintKit,
    answer: (method, params: { readonly height: string }, node) => {
      const height = Number(params.height)
      const isLie = head > 10 && node === 'one' && method === lie?.method
      if (isLie && (method === 'status' || height === 11)) return lie.answer
      if (method === 'status') return { sync_info: { latest_block_height: String(head) } }
      return method === 'block' ? block(height) : versions[version](height)
    },
  })
  const hearing = await fixture.join('subscribe', { query })
  head = 12
  const { one } = fixture.sockets
  if (lie?.method === 'status') (one as TestSocket).cut()
  else
    (one as TestSocket).tell({
      query,
      data: { type: 'x', value: query.includes("'NewBlock'") ? block(12) : block(12).block },
      events: {},
    })
  await fixture.clock.advance(5_000)
  expect(hearing.ended).toBeNull()
  return hearing.texts.map((text) => JSON.parse(`{${text}}`) as unknown)
}

/** What no node can be told to be without, or to have no items in. */
const needed =
  /^(block_id|block_id,hash|block|block,header|block,header,height|block,header,last_block_id,hash|block,last_commit,block_id,hash|block,data|block,data,txs.*|height|txs_results(,\d+)?|finalize_block_events|.*,type|.*,key)$/
/** Integers of 64 bits and bytes are texts of a kind. */
const special =
  /(height|version,block|version,app|gas_wanted|gas_used|data|signature|power|txs,\d)$/
/** Null stands there for nothing. */
const nullable =
  /(^app_hash|,value|signatures,0,signature|,data|last_commit|consensus_param_updates)$/

/** Whether a node might say so: such a lie is one only to who knows better. */
function mightBe(document: unknown, path: MemberPath, fault: Fault): boolean {
  const at = path.join()
  const value = valueAt(document, path)
  const isList = Array.isArray(value)
  // What nobody reads is passed on, whatever it is.
  if (/^(validator_updates,0|consensus_param_updates|block,evidence,evidence,0),/.test(at))
    return true
  switch (fault) {
    case 'nothing':
      return !needed.test(at)
    case 'null':
      return (isList && !/txs/.test(at.split(',').at(-1) ?? '')) || nullable.test(at)
    case 'a list':
      return isList && !/txs/.test(at.split(',').at(-1) ?? '')
    case 'a number':
      return typeof value === 'number'
    case 'a text':
      return typeof value === 'string' && !special.test(at)
    case 'an object':
      return typeof value === 'object' && !isList && !needed.test(at) && !at.endsWith('block_id')
  }
}

const topics = ["tm.event='NewBlock'", "tm.event='Tx'"]
const cases = (Object.keys(versions) as Version[]).flatMap((version) =>
  topics.flatMap((query) =>
    (Object.keys(faults) as Fault[]).map((fault) => [version, query, fault] as const),
  ),
)

describe('where the first upstream says something else in any place of its answers', () => {
  test.each(cases)(
    '%s, %s, %s: the truth is told, by another one',
    async (version, query, fault) => {
      const honest = await told(query, version, null)
      expect(honest).toHaveLength(query.includes('Tx') ? 4 : 2)
      const wrong: string[] = []
      const documents = { block: block(11), block_results: versions[version](11) }
      for (const [method, document] of Object.entries(documents))
        for (const path of pathsOf(document)) {
          const seen = await told(query, version, { method, answer: faulty(document, path, fault) })
          const isTrue = JSON.stringify(seen) === JSON.stringify(honest)
          const isWhole = seen.length === honest.length
          if (!isWhole || !(isTrue || mightBe(document, path, fault)))
            wrong.push(`${method} ${path.join('.')}: ${seen.length}`)
        }
      expect(wrong).toEqual([])
    },
  )

  test.each(Object.keys(faults) as Fault[])('the newest height: %s', async (fault) => {
    const document = { sync_info: { latest_block_height: '12' } }
    for (const path of pathsOf(document)) {
      const lie = { method: 'status', answer: faulty(document, path, fault) }
      const seen = await told("tm.event='NewBlock'", 'CometBFT 0.38', lie)
      expect(seen, path.join('.')).toHaveLength(2)
    }
  })
})
