// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Place } from './place.ts'

/** A way down from `result`: keys and indexes; empty for `result` itself. */
export type CheckPath = readonly (string | number)[]

/**
 * How two values are compared: hex without regard to case, with `short-hex` and to the zeros before it
 * either, by the number's value, exactly, by the bytes that one has in hex and the other in hex or in
 * base64, or as the names of types in Move.
 */
export const likenesses = ['hash', 'short-hex', 'number', 'text', 'bytes', 'move-type'] as const

export type Likeness = (typeof likenesses)[number]

/**
 * What a value may be. `quantity`, `data`, `hash`, `address` and `bloom` are Ethereum's, in hex, a
 * `height` is a quantity below 2^53, a `uint64` one below 2^64, a `word` data of 32 bytes, `hashes` a
 * list of hashes, `data-list` one of data, `topics` one of at most four; `decimal` is a text of digits, `number` a JSON number
 * from 0 on, an `integer` a whole one; `bare-hash` is 64 digits in hex without `0x`, `base64-hash` the same in base64, `bare-hashes` a list of the former,
 * `mempool` such a list or an object, `base58-32` and `base58-64` so many bytes in base58, `structure` an object or a list,
 * `syncing` an object or a boolean, `text` is not empty, `any` is whatever is not null.
 */
export const plainShapes = [
  ...(['quantity', 'height', 'uint64', 'data', 'word', 'hash', 'address', 'bloom'] as const),
  ...(['hashes', 'topics', 'object', 'list', 'text', 'decimal', 'number'] as const),
  ...(['boolean', 'false', 'any', 'structure', 'syncing', 'data-list'] as const),
  ...(['integer', 'bare-hash', 'base64-hash', 'bare-hashes', 'mempool'] as const),
  ...(['base58-32', 'base58-64'] as const),
] as const

export type PlainShape = (typeof plainShapes)[number]

/** What a value is; with `?` behind it, the value may be null or not there as well. */
export type Shape = PlainShape | `${PlainShape}?`

/** What the index of a log counts in: some chains begin anew with each transaction. */
export const logIndexScopes = ['block', 'transaction'] as const
export type LogIndexScope = (typeof logIndexScopes)[number]

/** The members that an object must have, by name. Of a pending block each may be null or missing. */
export type Members = ReadonlyMap<string, Shape>

/** Other names that a node may give a member, which some clients read first. */
export type SecondNames = ReadonlyMap<string, SecondName>

export interface SecondName {
  /** The member that it must repeat. */
  readonly name: string
  /** Beside any of these it is a word of its own. */
  readonly unless: readonly string[]
}

/**
 * What names a transaction: the digest of its bytes in hex with `0x` (`keccak256`), in hex without it
 * (`bitcoin-txid`) or in base64 (`sha256`), or its first signature. What is in base64 may be in another
 * form as well, so of `sha256` an answer is not compared.
 */
export const sentDigests = ['keccak256', 'bitcoin-txid', 'sha256', 'solana-signature'] as const

export type SentDigest = (typeof sentDigests)[number]

/** A question that shows whether a node knows a transaction. */
export interface Confirmation {
  readonly method: string
  /** In which the text `%s` stands for the hash, and `%b` for its bytes in base64. */
  readonly params: unknown
  /** Where the answer shows the hash. */
  readonly result: CheckPath
  /** It shows the transaction by whatever stands there. */
  readonly present: boolean
  /** It does not show what waits for a block, so nothing follows where it shows nothing. */
  readonly isPartial: boolean
}

/** The request has one of these values at the place, where nothing stands for the default. */
export interface Condition {
  readonly place: Place
  readonly is: readonly (string | boolean)[]
  readonly absent: string | boolean | null
}

/**
 * What an answer to a method must show, as its spec says it. `place` is where the request tells what
 * is wanted; null for a rule that needs nothing beyond the block asked about.
 */
export type CheckRule =
  /** It is about the block asked for, be that named by its height or by its hash. */
  | {
      readonly check: 'block'
      readonly place: null
      readonly number: CheckPath | null
      readonly hash: CheckPath | null
      /** Uncles are up to so many blocks older than the block asked for; 0: the block itself. */
      readonly older: number
      /** Null at this place says that the node has no such block; null: the result itself says so. */
      readonly absent: CheckPath | null
      /**
       * Nothing at the end of a path is no violation: the request may have left the member out. With
       * `older` neither is 0.
       */
      readonly optional: boolean
      /**
       * An answer that is one text is the block in hex, or nothing but its header, which has the hash
       * asked for.
       */
      readonly raw: 'bitcoin-block' | 'bitcoin-header' | null
      /** The height of the chain's first block; null where that is not known. */
      readonly earliest: number | null
    }
  /** It is about the thing asked for. */
  | {
      readonly check: 'identity'
      readonly place: Place
      readonly result: CheckPath
      readonly as: Likeness
      /** `result` is an array, and the path leads down from each of its items. */
      readonly each: boolean
      /** No violation is a text or a list where the path leads through an object: another form. */
      readonly optional: boolean
    }
  /** It is a list with an item for each item of a list in the request. */
  | {
      readonly check: 'length'
      readonly place: Place
      readonly result: CheckPath
      /** The member of an item that repeats the item of the request, as a number. */
      readonly key: string | null
      /** What each item is; null: anything. */
      readonly items: Shape | null
    }
  /** It is a list with no more items than the number in the request. */
  | { readonly check: 'limit'; readonly place: Place; readonly result: CheckPath }
  /** A number is no less than that of the request, which older nodes may not know of. */
  | { readonly check: 'least'; readonly place: Place; readonly result: CheckPath }
  /** It is a list of heights in the range asked for, or from the height asked for on, that rise. */
  | { readonly check: 'heights'; readonly place: null }
  /** The objects of an array belong to the block asked for and to each other. */
  | {
      readonly check: 'items'
      /** Where the request says whether it wants whole objects or their hashes; null: objects. */
      readonly place: Place | null
      readonly result: CheckPath
      /** What each item has. */
      readonly members: Members
      readonly secondNames: SecondNames
      /** A hash that no two items have in common. */
      readonly distinct: string | null
      /** Members of an item that hold the height and the hash of its block. */
      readonly number: string | null
      readonly hash: string | null
      /** Members that all items have in common. */
      readonly alike: readonly string[]
      /** Members that repeat one of the object around the array: by the item's name for it. */
      readonly like: ReadonlyMap<string, string>
      /** A member that counts the items from 0; with `each` on from list to list. */
      readonly counted: string | null
      /** A member whose number rises from item to item; with `each` from list to list too. */
      readonly rising: string | null
      /** A number in the object around the array: what the items used, so 0 without any. */
      readonly used: string | null
      /** The items are objects, and the array meant is a member of each of them. */
      readonly each: string | null
    }
  /** The bloom filter of logs is made of them. */
  | {
      readonly check: 'bloom'
      readonly place: null
      readonly logs: string
      readonly bloom: string
      /** Of each object of an array. */
      readonly each: boolean
    }
  /** Logs of Ethereum lie inside the filter and are in the order of the chain. */
  | {
      readonly check: 'logs'
      readonly place: Place
      readonly indexIn: LogIndexScope
    }
  /** A block that was heard of before still has its height and its parent. None is far above the tip. */
  | {
      readonly check: 'parent'
      readonly place: null
      readonly number: CheckPath
      /** Null: only the height is told. */
      readonly hash: CheckPath | null
      /** Null: the answer is about something in the block, and does not tell it. */
      readonly parent: CheckPath | null
      /** The result is a list, and the paths lead down from each of its objects. */
      readonly each: boolean
    }
  /** It is the value that a verification of the interface wants, where that is not skipped. */
  | {
      readonly check: 'expected'
      readonly place: null
      /** Only of the block of this height; null: whatever is asked. */
      readonly height: number | null
      readonly verification: string
      readonly result: CheckPath
      /** Nothing at the end of the path is no violation. */
      readonly optional: boolean
    }
  /** Two numbers are the ends of a range, which holds what was asked for where there is a place. */
  | {
      readonly check: 'contains'
      readonly place: Place | null
      readonly from: CheckPath
      readonly to: CheckPath
    }
  /** The items of a list are numbered one after the other. */
  | {
      readonly check: 'sequence'
      /** Where the request tells the first number; with `begin`: whether it wants the list. */
      readonly place: Place | null
      readonly result: CheckPath
      readonly key: string
      /** Where the answer tells the first number and the last one that there may be. */
      readonly begin: CheckPath | null
      readonly end: CheckPath | null
      /** The items may begin behind what the request tells, and are only doubted. */
      readonly isLenient: boolean
    }
  /**
   * What stands in one place has the digest that stands in hex in the other: `sha256` of base64, or
   * `bitcoin-txid` of hex without `0x`.
   */
  | {
      readonly check: 'hashed'
      readonly place: null
      readonly data: CheckPath
      readonly result: CheckPath
      readonly digest: 'sha256' | 'bitcoin-txid'
      /** Nothing in the first place is no violation. */
      readonly optional: boolean
      /** Of each item of this list; null: of the result itself. */
      readonly each: CheckPath | null
    }
  /** At the end of the path stands such a value. An object has these members. */
  | {
      readonly check: 'shape'
      readonly place: null
      /** Only for requests that say so; null: for all. */
      readonly when: Condition | null
      readonly result: CheckPath
      readonly as: Shape
      /** It is one of these texts; null: any. */
      readonly oneOf: readonly string[] | null
      /** Some nodes have their reasons: a value of another type is only doubted. */
      readonly isLenient: boolean
      readonly members: Members
      readonly secondNames: SecondNames
    }
  /**
   * The hash of a block is that of the header that is shown beside it; of Bitcoin the transactions in
   * the block are those of the header as well.
   */
  | { readonly check: 'header'; readonly place: null; readonly form: 'ethereum' | 'bitcoin' }
  /** The hash of a transaction is that of its members. */
  | {
      readonly check: 'transaction'
      readonly place: null
      readonly form: 'ethereum'
      /** Of the objects in this list; null: of the result itself. */
      readonly each: string | null
    }
  /** Gas, status and logs of Ethereum's receipts do not contradict each other. */
  | {
      readonly check: 'receipt'
      readonly place: null
      /** The result is a list of them, in the order of their block. */
      readonly each: boolean
    }
  /** A list is empty exactly when its root is that of an empty one. A root of zeros says nothing. */
  | {
      readonly check: 'root'
      readonly place: null
      readonly list: string
      readonly root: string
      /** The root of an empty list, as 64 digits. */
      readonly ofNone: string
      /**
       * What is only doubted. `empty`: an empty list beside another root, for some chains keep something
       * else there. `listed`: items beside the root of none, for some chains list what is no part of it;
       * an empty list says nothing then.
       */
      readonly lenient: 'empty' | 'listed' | null
    }
  /** Ethereum's fee history is one of the blocks asked for. */
  | {
      readonly check: 'fee-history'
      /** How many blocks are wanted; with `rewards` the percentiles of each. */
      readonly place: Place
      readonly rewards: boolean
    }
  /** Null means that the node has not got the block. */
  | { readonly check: 'exists'; readonly place: null }
  /** It is the hash of the transaction that was sent. */
  | {
      readonly check: 'sent'
      readonly place: Place
      readonly digest: SentDigest
      readonly result: CheckPath
      /** How to ask a node whether it knows the transaction: one way after the other. */
      readonly confirm: readonly Confirmation[]
      /** What a node would answer that took it, with the words of a `Confirmation`. */
      readonly answer: unknown
    }
  /** It is the digest of what the request tells in hex. */
  | { readonly check: 'digest'; readonly place: Place; readonly digest: 'keccak256' }
  /** It is the raw transaction of the hash asked for; with `bitcoin-txid`, in hex without `0x`. */
  | {
      readonly check: 'raw'
      readonly place: Place
      readonly digest: 'keccak256' | 'bitcoin-txid'
    }

/** A rule and what one request wants by it. */
export interface Check {
  readonly rule: CheckRule
  /** What stands at the rule's place, whatever it is; of `expected`, the value wanted. */
  readonly wanted: unknown
}
