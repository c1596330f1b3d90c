// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  isBase64,
  isFlag,
  isInteger,
  isObject,
  isText,
  isWhole,
  listOf,
  objectOf,
  orNull,
  type Shape,
} from './shape.ts'
import type { AbciEvent } from './tendermint-event.ts'

/*
 * What a node answers of a block, as CometBFT writes it from 0.34 on. A list without items is `null`
 * where Go's slice was never made; what is empty may be left out where Go says `omitempty`. Members
 * that are only passed on may be missing, but are of their kind where they are there.
 */

export interface BlockAnswer {
  readonly block_id: unknown
  readonly block: {
    readonly header: { readonly height: string }
    readonly data: { readonly txs: readonly string[] | null }
  }
}

export interface TxResult {
  readonly events?: readonly AbciEvent[] | null
}

export interface ResultsAnswer {
  readonly height: string
  readonly txs_results?: readonly TxResult[] | null
  /** CometBFT from 0.38 on. */
  readonly finalize_block_events?: readonly AbciEvent[] | null
  readonly app_hash?: unknown
  /** Before. */
  readonly begin_block_events?: readonly AbciEvent[] | null
  readonly end_block_events?: readonly AbciEvent[] | null
  readonly validator_updates?: unknown
  readonly consensus_param_updates?: unknown
}

const parts = objectOf({}, { total: isWhole, hash: isText })
const blockId = objectOf({ hash: isText }, { parts })

const headerOf = objectOf(
  { height: isInteger },
  {
    version: objectOf({}, { block: isInteger, app: isInteger }),
    chain_id: isText,
    time: isText,
    last_block_id: blockId,
    last_commit_hash: isText,
    data_hash: isText,
    validators_hash: isText,
    next_validators_hash: isText,
    consensus_hash: isText,
    app_hash: isText,
    last_results_hash: isText,
    evidence_hash: isText,
    proposer_address: isText,
  },
)

const signature = objectOf(
  {},
  {
    block_id_flag: isWhole,
    validator_address: isText,
    timestamp: isText,
    signature: orNull(isBase64),
  },
)
const commit = objectOf(
  {},
  {
    height: isInteger,
    round: isWhole,
    block_id: blockId,
    signatures: orNull(listOf(signature)),
  },
)

const block = objectOf({
  block_id: blockId,
  block: objectOf(
    { header: headerOf, data: objectOf({ txs: orNull(listOf(isBase64)) }) },
    {
      evidence: objectOf({}, { evidence: orNull(listOf(isObject)) }),
      // The first block has none.
      last_commit: orNull(commit),
    },
  ),
})

const attribute = objectOf({ key: isText }, { value: orNull(isText), index: isFlag })
const events = orNull(listOf(objectOf({ type: isText }, { attributes: orNull(listOf(attribute)) })))
const result = objectOf(
  {},
  {
    code: isWhole,
    data: orNull(isBase64),
    log: isText,
    info: isText,
    gas_wanted: isInteger,
    gas_used: isInteger,
    events,
    codespace: isText,
  },
)
/** Some nodes leave out what is empty, but no transaction uses no gas. */
const txResult: Shape = (value) => result(value) && Object.keys(value as object).length > 0

const eventLists = {
  finalize_block_events: events,
  begin_block_events: events,
  end_block_events: events,
}
const results = objectOf(
  { height: isInteger },
  {
    txs_results: orNull(listOf(txResult)),
    ...eventLists,
    validator_updates: orNull(listOf(isObject)),
    consensus_param_updates: orNull(isObject),
    app_hash: orNull(isText),
  },
)

/** Of this height. */
export function isBlockAt(height: number): (value: unknown) => value is BlockAnswer {
  return (value): value is BlockAnswer =>
    block(value) && (value as BlockAnswer).block.header.height === String(height)
}

/** Of this height. Without any list of the block's own events it cannot be told how it is to be read. */
export function areResultsAt(height: number): (value: unknown) => value is ResultsAnswer {
  return (value): value is ResultsAnswer =>
    results(value) &&
    (value as ResultsAnswer).height === String(height) &&
    Object.keys(eventLists).some((name) => Object.hasOwn(value as object, name))
}

/** There is a result for each transaction of the block, and for nothing else. */
export function areOfOneBlock({ block: { data } }: BlockAnswer, told: ResultsAnswer): boolean {
  return (data.txs?.length ?? 0) === (told.txs_results?.length ?? 0)
}
