// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../config/types.ts'
import type { AnyCaseHex } from '../json/canonical-params.ts'
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
 * A chain as the router uses it: compiled from a native spec (`specs/*.yml`) or from the public
 * catalog's format, with inheritance resolved.
 */

export type Family = NonNullable<NativeSpec['family']>
export type BlockTag = (typeof blockTags)[number]
export type DataKind = (typeof dataKinds)[number]

/** One point of the chain: a tag, a height, or a block's hash. */
export type BlockPoint =
  | { readonly kind: 'tag'; readonly tag: BlockTag }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'hash'; readonly hash: string }

/** The state that a call asks about. */
export type BlockRef =
  | BlockPoint
  | { readonly kind: 'range'; readonly from: BlockPoint; readonly to: BlockPoint }
  /** The answer does not depend on a block (`eth_chainId`), or the block is not known. */
  | { readonly kind: 'none' }
  /** The value at the block's place is no block; the node will refuse it. */
  | { readonly kind: 'invalid' }

export type CallKind = NonNullable<NativeMethod['kind']>

/** A request as its interface describes it. */
export type Question =
  | {
      readonly apiInterface: 'jsonrpc'
      readonly method: string
      /** Their JSON as `FoundJson`, or the value itself. */
      readonly params: unknown
      /** The path that the client called, where a chain serves several (`/C/rpc`); absent: `/`. */
      readonly internalPath?: string
    }
  | {
      readonly apiInterface: 'rest'
      readonly verb: string
      /** Without the query, percent-encoding as sent. */
      readonly path: string
      readonly query: string
      readonly header: (name: string) => string | null
    }
  | { readonly apiInterface: 'tendermintrpc'; readonly method: string; readonly params: unknown }
  | {
      readonly apiInterface: 'grpc'
      /** `package.Service/Method`. */
      readonly method: string
      readonly header: (name: string) => string | null
      /**
       * The request's message, without its frame; absent where it was not read: several messages, or
       * a compressed one.
       */
      readonly message?: Uint8Array
    }

/** The properties of one request by the spec. */
export interface MethodSpec {
  /** The method, or the path pattern that matched. Any text when `known` is false. */
  readonly name: string
  /** False: the spec does not name it; it is relayed as a read that is never cached. */
  readonly known: boolean
  readonly kind: CallKind
  /** Null: the call concerns no state that one node keeps for its caller. */
  readonly stateful: NonNullable<NativeMethod['stateful']> | null
  readonly block: BlockRef
  /** The lowest block that the answer may reflect, and where the answer shows its block; absent: no floor. */
  readonly floor?: { readonly block: number; readonly shown: ResultPath | null } | undefined
  /** The kind of data that a read of a numbered block needs; null or absent if nodes never prune it. */
  readonly data?: DataKind | null
  /** The add-on that an upstream must declare; null for the standard set. */
  readonly addon: string | null
  /** Compute units: the weight of the call in budgets and scores. 10 is a cheap read. */
  readonly cost: number
  readonly cacheable: boolean
  /** A write ends a cached answer about the latest block. */
  readonly untilWrite?: boolean
  /** Two correct nodes give the same answer for the same block. */
  readonly deterministic: boolean
  /** Answers about one object named by its hash, which never changes once final. */
  readonly byHash: boolean
  /** Where the case of hex digits is irrelevant; absent: nowhere. `true` covers the answer too. */
  readonly anyCaseHex?: AnyCaseHex
  /** The node delays the answer until an event: the deadline is two block times later. */
  readonly waitsForBlock: boolean
  /** The spec's own deadline of an attempt; null: it is computed from the cost. */
  readonly timeoutMs: number | null
  /** Its errors may hold words of the caller's own: nothing follows for an upstream from words alone. */
  readonly runsCallerCode?: boolean
  /** Where its requests name their block, so that another one can be named there; absent: nowhere. */
  readonly blockPlaces?: BlockPlaces | null
  /** Where the answer shows the chain's latest block; null: it does not. */
  readonly tellsTip: ResultPath | null
  /** Where the answer to a call by hash, by number or about logs shows its block; absent or null: it does not. */
  readonly showsBlock?: ResultPath | null
  /** A result without such a place still proves that a block exists: the one named by number, or one of unknown number. */
  readonly impliesBlock?: boolean
  /** Any result shows the latest state, in a form that the router does not read. */
  readonly showsUnnamed?: boolean
  /** The response header with the node's head, on any answer; absent: none. */
  readonly tipHeader?: string | undefined
  /** The tag that a request without a block is about, where the block is the last param; absent or null: none. */
  readonly defaultTag?: BlockTag | null
  /** The checks that an answer must pass. */
  readonly checks: readonly Check[]
  /** REST: an answer that claims success is one JSON document, where the client takes JSON. */
  readonly answersJson?: boolean
  /**
   * Where a write's result shows that the node refused it: a code that is not 0, and a message. Absent
   * or null: nowhere.
   */
  readonly refusal?: NativeMethod['refusal'] | null
  /**
   * Path below the upstream's URL under which the node serves the method (`/C/rpc`); absent or
   * empty for the URL itself.
   */
  readonly internalPath?: string
}

/** The places of a block in the requests of a method: one, or those of the first and the last of a range. */
export interface BlockPlaces {
  readonly places: readonly ValuePlace[]
  /** `0x` and hex digits; else decimal. */
  readonly isHex: boolean
}

/** A rule for an answer, and the value at its place in the request. */
export interface Check {
  readonly rule: CheckRule
  readonly wanted: (() => unknown) | null
}

/** The place of a value in an answer, and how its number is written. */
export interface ResultPath {
  /**
   * JSON-RPC and Tendermint RPC: keys and indexes from `result` down, empty for `result` itself.
   * REST: the same from the document down. gRPC: the numbers of fields, from the message down.
   */
  readonly path: readonly (string | number)[]
  readonly encoding: NonNullable<NativeProbe['encoding']>
  /** The response header with the value instead, lower case. */
  readonly header?: string | undefined
  /** The hash of the block, and that of its parent; absent or null: not shown. `path` itself if the answer has no number. */
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
  /** Below the node's URL. gRPC: `/package.Service/Method`. */
  readonly path: string
  /**
   * Other paths for the same request, tried in this order when the node does not know `path`. The
   * path that worked is worth remembering for each URL.
   */
  readonly otherPaths?: readonly string[]
  /** Complete request body; null for none, and for the empty message of gRPC. */
  readonly body: string | null
  readonly result: ResultPath
  /** Milliseconds from the spec, null for the default. */
  readonly timeoutMs: number | null
}

/** Where a result shows the oldest block of each kind of data. */
export type OldestKinds = Readonly<Partial<Record<DataKind, ResultPath['path']>>>

/** A check that an upstream must pass before it serves. */
export interface Verification {
  /** `chain-id`, `pruning`, ...: the name in `skip-verifications`. */
  readonly name: string
  readonly call: ProbeCall
  /** The expected value, as text; null: any answer that is not an error. */
  readonly expected: string | null
  /** Asked only of URLs that declare this add-on or extension; null: of all. */
  readonly addon: string | null
  /** A warning leaves the upstream in service. */
  readonly severity: 'fail' | 'warn'
}

/** What one chain offers through one interface. */
export interface ChainInterface {
  readonly apiInterface: ApiInterface
  /** Add-ons and extensions that a URL may declare here. */
  readonly addons: ReadonlySet<string>
  /** Blocks behind the tip from which a call needs `archive`; null where the chain knows none. */
  readonly archiveAfterBlocks: number | null
  /** JSON-RPC: the version of a request without one; the node needs it in the request. */
  readonly impliedVersion: '1.0' | null
  /** Client headers that reach the upstream, lower case. */
  readonly requestHeaders: ReadonlySet<string>
  /** Upstream headers that reach the client beside the content type, lower case. */
  readonly responseHeaders: ReadonlySet<string>
  /** How to ask for the latest block; null where there is no way. */
  readonly latestBlock: ProbeCall | null
  /** The calls that return a node's block for a tag. Only the node can resolve a tag without an entry. */
  readonly tagBlocks: ReadonlyMap<BlockTag, ProbeCall>
  /** The call that shows whether a node is syncing; null if there is none. */
  readonly syncing: ProbeCall | null
  /** The call that returns the timestamp of the latest block; null if there is none. */
  readonly latestTime: ProbeCall | null
  /** The call that returns the oldest block that a node still has; null if there is none. */
  readonly oldestBlock: (ProbeCall & { readonly kinds: OldestKinds }) | null
  readonly verifications: readonly Verification[]
  /** Names of the verifications, and of others that the chain's specs know and the router never runs. */
  readonly verificationNames: ReadonlySet<string>
  /** JSON-RPC: the paths beside `/` that a client may call, each with its own methods (`/C/rpc`). */
  readonly internalPaths: ReadonlySet<string>
  /** Names of all methods or path patterns, for documentation and metric labels. */
  readonly methods: ReadonlySet<string>
  /** Prefixes of method names, and other prefixes for the same methods. */
  readonly aliases: ReadonlyMap<string, string>
  /** Pure: the same question gives the same classification. Never throws. */
  classify(question: Question): MethodSpec
}

export interface Chain {
  /** `ETH1`; a config may also use an alias. */
  readonly id: string
  readonly aliases: readonly string[]
  readonly name: string
  readonly family: Family
  readonly blockTimeMs: number
  /** An upstream further behind the tip than this is lagging. */
  readonly allowedLagBlocks: number
  /** Which blocks are final: those up to the tag, or those this many blocks behind the tip. */
  readonly finality: NonNullable<NativeSpec['finality']>
  /** False for test nodes: their state changes without a block, so no answer is cached. */
  readonly cacheable: boolean
  readonly interfaces: ReadonlyMap<ApiInterface, ChainInterface>
  readonly failures: FailureTable
  /** The file of its spec, for messages; null for a bundled one. */
  readonly ownFile: string | null
}

/** All chains of the spec sources, by id and by alias. Ids are matched without regard to case. */
export interface ChainCatalog {
  find(chainId: string): Chain | null
  readonly ids: readonly string[]
}
