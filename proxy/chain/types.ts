// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { FailureTable } from './failure-table.ts'
import type {
  CheckRule,
  NativeMethod,
  NativeProbe,
  NativeSpec,
  ValuePlace,
  blockTags,
  dataKinds,
} from './native/schema.ts'

/*
 * A chain as the router uses it, compiled from a native spec (`specs/*.yml`) or from the public
 * catalog's format.
 */

export type Family = NonNullable<NativeSpec['family']>
export type BlockTag = (typeof blockTags)[number]
export type DataKind = (typeof dataKinds)[number]

/** One point of the chain: a tag, a height, or the hash of a block. */
export type BlockPoint =
  | { readonly kind: 'tag'; readonly tag: BlockTag }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'hash'; readonly hash: string }

/** The state that a call asks about. */
export type BlockRef =
  | BlockPoint
  | { readonly kind: 'range'; readonly from: BlockPoint; readonly to: BlockPoint }
  /** The answer does not depend on a block (`eth_chainId`), or the block is unknown. */
  | { readonly kind: 'none' }
  /** The value at the block's place is not a block, so the node will reject it. */
  | { readonly kind: 'invalid' }

export type CallKind = NonNullable<NativeMethod['kind']>

/** A request as its interface describes it. */
export type Question =
  | {
      readonly apiInterface: 'jsonrpc'
      readonly method: string
      /** Params as `FoundJson`, or the value itself. */
      readonly params: unknown
      /** Path that the client called, on chains with several paths (`/C/rpc`); absent: `/`. */
      readonly internalPath?: string
    }
  | {
      readonly apiInterface: 'rest'
      readonly verb: string
      /** The path without its query, percent-encoded as sent. */
      readonly path: string
      readonly query: string
      readonly header: (name: string) => string | null
    }
  | { readonly apiInterface: 'tendermintrpc'; readonly method: string; readonly params: unknown }
  | {
      readonly apiInterface: 'grpc'
      /** Method as `package.Service/Method`. */
      readonly method: string
      readonly header: (name: string) => string | null
      /**
       * The unframed request message; absent if it was not read (several messages, or compression).
       */
      readonly message?: Uint8Array
    }

/** What the spec says about a request. */
export interface MethodSpec {
  /** The method, or the path pattern that matched. Arbitrary text if `known` is false. */
  readonly name: string
  /** False when the spec does not name it; such a method is never cached. */
  readonly known: boolean
  readonly kind: CallKind
  /** Whether only the operator of a node should call it; absent: no. */
  readonly operatorOnly?: boolean
  /** Of a method that the spec does not name: whether its name looks like that of a read. */
  readonly looksLikeRead?: boolean
  /** Null when the call concerns no state that one node stores for its caller. */
  readonly stateful: NonNullable<NativeMethod['stateful']> | null
  readonly block: BlockRef
  /** Minimum block that the answer must reflect, and where it shows its block; absent: none. */
  readonly floor?: { readonly block: number; readonly shown: ResultPath | null } | undefined
  /** Kind of data that a numbered read needs; null or absent if nodes never prune it. */
  readonly data?: DataKind | null
  /** What an answer lists, if its range of blocks may be split; absent or null: it may not. */
  readonly split?: NativeMethod['split'] | null
  /** The add-on that an upstream must declare; null for the standard set. */
  readonly addon: string | null
  /** Compute units: the weight of the call in budgets and scores. A cheap read has 10. */
  readonly cost: number
  readonly cacheable: boolean
  /** Whether a write invalidates a cached answer about the latest block. */
  readonly untilWrite?: boolean
  /** Whether correct nodes return equal answers for the same block. */
  readonly deterministic: boolean
  /** Whether it answers about one object identified by its hash, which never changes once final. */
  readonly byHash: boolean
  /** Whether the case of hex digits is irrelevant, in params and in the answer; absent: no. */
  readonly anyCaseHex?: boolean
  /** Whether the node waits for an event, which extends the deadline by two block times. */
  readonly waitsForBlock: boolean
  /** How long the request asks the node to wait for the event; absent: it does not say. */
  readonly waitMs?: number | null
  /** Attempt deadline from the spec; null: computed from the cost. */
  readonly timeoutMs: number | null
  /** Whether its errors may quote the caller, so that text alone never affects an upstream. */
  readonly runsCallerCode?: boolean
  /** Where requests name their block, so that it can be replaced; null or absent: nowhere. */
  readonly blockPlaces?: BlockPlaces | null
  /** Where the answer shows the chain's latest block; null: nowhere. */
  readonly tellsTip: ResultPath | null
  /** Where answers by hash, by number or about logs show their block; absent or null: nowhere. */
  readonly showsBlock?: ResultPath | null
  /** Whether a result proves that its block exists, even if it does not show the block. */
  readonly impliesBlock?: boolean
  /** Whether every result shows the latest state, in a form that the router cannot read. */
  readonly showsUnnamed?: boolean
  /** The header in which the node reports its head; absent if it has none. */
  readonly tipHeader?: string | undefined
  /** Tag of a request that omits the last param, its block; absent or null: none. */
  readonly defaultTag?: BlockTag | null
  /** The checks that an answer must pass. */
  readonly checks: readonly Check[]
  /** REST: whether a successful answer is one JSON document if the client accepts JSON. */
  readonly answersJson?: boolean
  /**
   * Where a result shows that the node refused the call: a non-zero code, and a message; without a
   * code, each message whose words send the call to another node. Absent or null: nowhere.
   */
  readonly refusal?: NativeMethod['refusal'] | null
  /**
   * Path below the upstream's URL where the node serves the method (`/C/rpc`); absent or empty: the
   * URL itself.
   */
  readonly internalPath?: string
}

/** Where a method's requests name blocks: one place, or both ends of a range. */
export interface BlockPlaces {
  readonly places: readonly ValuePlace[]
  /** Whether heights are `0x` and hex digits; otherwise decimal. */
  readonly isHex: boolean
}

/** A rule for an answer, and the value to compare from the request. */
export interface Check {
  readonly rule: CheckRule
  readonly wanted: (() => unknown) | null
}

/** The place of a value in an answer, and the encoding of its number. */
export interface ResultPath {
  /**
   * JSON-RPC and Tendermint RPC: keys and indexes from `result` down; empty for `result` itself.
   * REST: the same from the document down. gRPC: field numbers from the message down.
   */
  readonly path: readonly (string | number)[]
  readonly encoding: NonNullable<NativeProbe['encoding']>
  /** Lower-case response header that carries the value instead. */
  readonly header?: string | undefined
  /** Place of the block's hash; equals `path` if there is no number; absent or null: not shown. */
  readonly hash?: readonly (string | number)[] | null | undefined
  readonly parent?: readonly (string | number)[] | null
  /** `path` shows the first block of a run as long as this list. */
  readonly span?: readonly (string | number)[] | undefined
  /** `path` shows a block this many blocks ahead of the chain. */
  readonly ahead?: number | undefined
}

/** A request that the router itself sends to an upstream. */
export interface ProbeCall {
  readonly verb: string
  /** Path below the node's URL. gRPC: `/package.Service/Method`. */
  readonly path: string
  /**
   * Alternative paths, tried in order if the node does not know `path`. Callers should remember
   * which path worked for each URL.
   */
  readonly otherPaths?: readonly string[]
  /** Complete request body; null for none, and for the empty message of gRPC. */
  readonly body: string | null
  readonly result: ResultPath
  /** Timeout from the spec in milliseconds; null: the default. */
  readonly timeoutMs: number | null
}

/** Where a result shows the oldest block of each kind of data. */
export type OldestKinds = Readonly<Partial<Record<DataKind, ResultPath['path']>>>

/** A check that an upstream must pass before it serves calls. */
export interface Verification {
  /** Name as in `skip-verifications`, such as `chain-id` or `pruning`. */
  readonly name: string
  readonly call: ProbeCall
  /** Expected value as text; null: any answer that is not an error. */
  readonly expected: string | null
  /** Runs only on URLs that declare this add-on or extension; null: on all URLs. */
  readonly addon: string | null
  /** A warning keeps the upstream in service. */
  readonly severity: 'fail' | 'warn'
}

/** What a chain offers through one interface. */
export interface ChainInterface {
  readonly apiInterface: ApiInterface
  /** Add-ons and extensions that a URL may declare here. */
  readonly addons: ReadonlySet<string>
  /** Distance from the tip beyond which a call needs `archive`; null if the chain defines none. */
  readonly archiveAfterBlocks: number | null
  /** JSON-RPC version added to requests without one, for nodes that require it. */
  readonly impliedVersion: '1.0' | null
  /** Client headers to forward to the upstream, in lower case. */
  readonly requestHeaders: ReadonlySet<string>
  /** Upstream headers to forward to the client besides the content type, in lower case. */
  readonly responseHeaders: ReadonlySet<string>
  /** Call that returns the latest block; null if there is none. */
  readonly latestBlock: ProbeCall | null
  /** Calls that return a node's block for a tag. Other tags only the node can resolve. */
  readonly tagBlocks: ReadonlyMap<BlockTag, ProbeCall>
  /** Call that shows whether a node is syncing; null if there is none. */
  readonly syncing: ProbeCall | null
  /** Call that returns the timestamp of the latest block; null if there is none. */
  readonly latestTime: ProbeCall | null
  /** Call that returns the oldest block on a node; null if there is none. */
  readonly oldestBlock: (ProbeCall & { readonly kinds: OldestKinds }) | null
  readonly verifications: readonly Verification[]
  /** Names of verifications, including those that specs mention but the router never runs. */
  readonly verificationNames: ReadonlySet<string>
  /** JSON-RPC: paths other than `/` that clients may call, each with its own methods (`/C/rpc`). */
  readonly internalPaths: ReadonlySet<string>
  /** Names of all methods or path patterns, for documentation and metric labels. */
  readonly methods: ReadonlySet<string>
  /** Prefixes of method names, each with an alternative prefix for the same methods. */
  readonly aliases: ReadonlyMap<string, string>
  /**
   * Pure: the same question yields the same classification. Never throws, except in a listener that
   * refuses the method (`withMethodRule`).
   */
  classify(question: Question): MethodSpec
}

export interface Chain {
  /** Id such as `ETH1`; a config may also use an alias. */
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly family: Family
  readonly blockTimeMs: number
  /** An upstream further behind the tip than this is lagging. */
  readonly allowedLagBlocks: number
  /** How to tell final blocks: up to the tag, or this many blocks behind the tip. */
  readonly finality: NonNullable<NativeSpec['finality']>
  /** False for test nodes: their state changes without a block, so no answer is cached. */
  readonly cacheable: boolean
  readonly interfaces: ReadonlyMap<ApiInterface, ChainInterface>
  readonly failures: FailureTable
  /** The file with its spec, for messages; null for a bundled spec. */
  readonly ownFile: string | null
}

/** The names of a chain in a config. */
export interface ChainNames {
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
}

/** All chains of the spec sources. */
export interface ChainCatalog {
  /** Finds a chain by id, alias or name in any letter case; `evm:N` is any EVM chain. */
  find(chainId: string): Chain | null
  readonly ids: readonly string[]
  readonly names: readonly ChainNames[]
}
