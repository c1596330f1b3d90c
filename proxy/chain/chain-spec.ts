// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { CheckRule } from './check-rule.ts'
import type {
  BlockTag,
  CallKind,
  Family,
  Finality,
  ProbeCall,
  RefusalPath,
  ResultPath,
  StatefulUse,
  Verification,
} from './types.ts'

/*
 * A chain as data, whatever format it was written in, with every inheritance resolved. The readers
 * of the formats make it, the compiler turns it into a `Chain`.
 */

/** Where a value stands in a request. */
export type Place =
  | {
      readonly in: 'params'
      /** Position among the params; null when it can only be given by name. */
      readonly position: number | null
      /** Its name when the params are an object; null when the method knows no names. */
      readonly name: string | null
      /** Keys and indexes from there down; empty for the param itself. */
      readonly path: readonly (string | number)[]
    }
  /** A `{name}` of the REST path, a key of its query, or a header (REST and gRPC). */
  | { readonly in: 'path' | 'query' | 'header'; readonly name: string }
  /** Field numbers of the gRPC request's message. */
  | { readonly in: 'message'; readonly path: readonly number[] }

/**
 * What may stand there: anything that names a block, a height or tag only, or a hash only. A
 * `version` is a number on a scale of its own, such as a ledger version: what it names never
 * changes, and how it stands to the tip is not known.
 */
export type PointForm = 'any' | 'number' | 'hash' | 'version'

/** How a request tells the block that it asks about. */
export type BlockRule =
  /** Always the same. */
  | { readonly kind: 'fixed'; readonly block: BlockTag | 'none' }
  /** The first of these places that holds something; if none does, `absent`. */
  | {
      readonly kind: 'point'
      readonly places: readonly Place[]
      readonly form: PointForm
      /** Null: the block is required, so a request without one is invalid. */
      readonly absent: BlockTag | 'none' | null
      /** Fields of a block that is given as an object. */
      readonly numberField: string
      readonly hashField: string
    }
  | {
      readonly kind: 'range'
      readonly from: Place
      readonly to: Place
      /** One block's hash instead of both ends. */
      readonly hash: Place | null
      readonly absentFrom: BlockTag | null
      readonly absentTo: BlockTag | null
    }

/** One method or path pattern. */
export interface MethodSpec {
  readonly name: string
  /** REST: upper case. Null for the other interfaces. */
  readonly verb: string | null
  /** Path below the upstream's URL under which JSON-RPC serves the method; empty for none. */
  readonly internalPath: string
  readonly kind: CallKind
  readonly stateful: StatefulUse | null
  readonly block: BlockRule
  readonly addon: string | null
  readonly cost: number
  readonly cacheable: boolean
  readonly deterministic: boolean
  readonly byHash: boolean
  readonly waitsForBlock: boolean
  readonly timeoutMs: number | null
  readonly tellsTip: ResultPath | null
  /** Tags besides `latest` whose answers tell so too, and how many blocks behind the tip these may be. */
  readonly behindTip: Readonly<Partial<Record<BlockTag, number>>>
  readonly checks: readonly CheckRule[]
  readonly answersJson: boolean
  readonly refusal: RefusalPath | null
}

export interface InterfaceSpec {
  readonly apiInterface: ApiInterface
  readonly addons: ReadonlySet<string>
  readonly archiveAfterBlocks: number | null
  /** JSON-RPC: the version that a request is of which tells none, and that the node wants to be told. */
  readonly impliedVersion: '1.0' | null
  readonly requestHeaders: ReadonlySet<string>
  readonly responseHeaders: ReadonlySet<string>
  /** Request headers that name the block wherever the method itself does not; lower case. */
  readonly blockHeaders: readonly string[]
  /** Prefixes of method names, and the prefixes under which the same methods are known as well. */
  readonly aliases: ReadonlyMap<string, string>
  readonly latestBlock: ProbeCall | null
  /** With a placeholder for the height: see `questionAt`. */
  readonly blockTimeQuestion: ProbeCall | null
  /** A node that is well may not be able to answer it. */
  readonly isBlockTimeOptional: boolean
  /** With a placeholder for the height as well. */
  readonly blockHashQuestion: ProbeCall | null
  readonly verifications: readonly Verification[]
  /** Names of verifications that specs of the chain know, and that are never asked. */
  readonly unaskedVerifications: ReadonlySet<string>
  /** By `methodKey`. */
  readonly methods: ReadonlyMap<string, MethodSpec>
}

export interface ChainSpec {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly family: Family
  readonly blockTimeMs: number
  readonly allowedLagBlocks: number
  readonly finality: Finality
  /** Names of failure tables, the first matching row wins; `common` always comes last. */
  readonly failures: readonly string[]
  /** The chain's own words for the named blocks, beside the tags themselves. */
  readonly blockWords: ReadonlyMap<string, BlockTag>
  readonly interfaces: ReadonlyMap<ApiInterface, InterfaceSpec>
}

/** What tells one method of an interface from another. */
export function methodKey(method: Pick<MethodSpec, 'name' | 'verb' | 'internalPath'>): string {
  return `${method.internalPath} ${method.verb ?? ''} ${method.name}`
}
