// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import * as z from 'zod'
import { parseDuration } from '../../config/units.ts'
import { strict } from '../document.ts'
import { methodName, pattern } from '../failures/schema.ts'

/*
 * Schema of the native format, one YAML file per chain, documented in `specs/README.md`. Specs in
 * other formats are converted to it, merged over their bases, and compiled. Compilation fills in
 * the defaults.
 */

export const blockTags = ['latest', 'pending', 'safe', 'finalized', 'earliest'] as const

/** Kinds of data that a node may prune separately. */
export const dataKinds = ['blocks', 'logs', 'receipts', 'transactions', 'state'] as const

/** Contents of answers to ranges of blocks that the router can split. */
const splitKinds = ['logs'] as const

const chainId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, - or _')

const duration = z
  .string()
  .regex(
    /^(?=.)(\d{1,5}h)?(\d{1,5}m)?(\d{1,7}(\.\d{1,3})?s)?(\d{1,7}ms)?$/,
    'must be a duration such as 400ms, 12s or 1m30s',
  )
const word = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be lower case letters, digits and -')
const absent = z.enum([...blockTags, 'none'])
const blocks = z.int().min(0).max(1e9)

const text = z.string().min(1)

const headerName = z.string().regex(/^[a-z0-9-]{1,64}$/, 'must be a header name in lower case')

/** Keys and indexes from the result down; empty for the result itself. */
const path = z.array(z.union([text, z.int().min(-1)])).max(16)

/** Index of a param in the list. */
const position = z.int().min(0).max(31)

/** The place of one value in a request. */
const pointPlace = strict({
  param: position.optional(),
  name: text.optional(),
  field: z.union([text, path]).optional(),
  'path-parameter': text.optional(),
  query: text.optional(),
  header: headerName.optional(),
  message: z.array(z.int().min(1).max(536_870_911)).min(1).max(16).optional(),
})

export type ValuePlace = z.output<typeof pointPlace>

const pointWays = ['param', 'path-parameter', 'query', 'header', 'message'] as const
const blockWays = [...pointWays, 'from-param', 'first-of'] as const

/** The place of the block, specified in exactly one way. */
const blockPlace = strict({
  ...pointPlace.shape,
  form: z.enum(['any', 'number', 'hash', 'version']).optional(),
  default: absent.optional(),
  'number-field': text.optional(),
  'hash-field': text.optional(),
  'first-of': z.array(pointPlace).min(1).max(8).optional(),
  from: text.optional(),
  to: text.optional(),
  hash: text.optional(),
  'from-param': position.optional(),
  'from-name': text.optional(),
  'to-param': position.optional(),
  'to-name': text.optional(),
  'default-from': z.enum(blockTags).optional(),
}).check((context) => {
  const value = context.value
  const complain = (message: string) =>
    context.issues.push({ code: 'custom', input: value, message })
  if (blockWays.filter((way) => value[way] !== undefined).length !== 1)
    complain(
      'must locate the block in exactly one way: `param`, `from-param` and `to-param`, `first-of`, `path-parameter`, `query`, `header` or `message`',
    )
  if ((value.from === undefined) !== (value.to === undefined))
    complain('must have `from` and `to` together, the fields of a range')
})

const blockSchema = z.union([absent, blockPlace], {
  error: `must be none, ${blockTags.join(', ')}, or a place such as { param: 1, name: block, default: latest }`,
})

const resultPath = strict({
  path: path.optional(),
  header: headerName.optional(),
  encoding: z.enum(['hex', 'decimal', 'text']).optional(),
  /** The block's hash, if no check reads it. Without `path`, the answer shows no number. */
  hash: path.optional(),
  /** `path` shows the first block of a run as long as this list. */
  span: path.optional(),
  /** `path` shows a block this many blocks ahead of the chain. */
  ahead: z.int().min(1).optional(),
}).refine(({ path: at, hash, header }) => ((at ?? hash) === undefined) !== (header === undefined), {
  error: 'must have either `path` or `header`',
})

/*
 * Checks of a method's answers. A check compares the answer with the request, and skips values that
 * are null or missing in the answer.
 */

export const checkSchema = z.discriminatedUnion('check', [
  /** The block is the requested one, by number or hash. */
  strict({
    check: z.literal('block'),
    number: path.optional(),
    hash: path.optional(),
    /** The result is a list, and the paths start at each item. */
    each: z.boolean().optional(),
    /** The number may be lower than requested, by at most this much. */
    older: z.int().min(1).max(1e9).optional(),
  }),
  /** The value at the path equals the value at a place of the request. */
  strict({
    check: z.literal('identity'),
    ...pointPlace.shape,
    result: path,
    as: z.enum(['hash', 'number', 'text']).optional(),
  }),
  /** Each log matches the filter. */
  strict({ check: z.literal('logs'), ...pointPlace.shape }),
  /** A block has the same parent every time it is returned. */
  strict({ check: z.literal('parent'), hash: path, parent: path }),
  /** The answer is the hash of the transaction that was sent, for Ethereum transaction types. */
  strict({
    check: z.literal('sent'),
    ...pointPlace.shape,
    digest: z.literal('keccak256'),
    result: path.optional(),
  }),
  /** The hash matches the header or transaction next to it. Level `full` only. */
  strict({
    check: z.literal('proof'),
    form: z.enum(['ethereum-header', 'ethereum-transaction']),
    /** The objects are the items of the list in this member. */
    each: z.string().min(1).optional(),
  }),
  /** Null means that the node lacks the block, so the router tries another node. */
  strict({ check: z.literal('exists') }),
])

const methodSchema = strict({
  /**
   * `read` may go to any node, repeatedly; `write` changes the chain; `subscribe` opens a stream;
   * `local` concerns the state of one node (`eth_accounts`, `admin_peers`). A local call goes to
   * one node, once, because nodes differ; a call that `creates` is retried like a read.
   */
  kind: z.enum(['read', 'write', 'subscribe', 'local']).optional(),
  /**
   * What a call does to an object that one node stores for its caller, such as a filter. It creates
   * the object and returns its id, or it uses or ends the object whose id is the first param.
   */
  stateful: z.enum(['creates', 'uses', 'ends']).optional(),
  block: blockSchema,
  /** Where a request may set the minimum block that its answer must reflect. */
  'min-block': pointPlace.optional(),
  /** What the answer lists, if a range of blocks may be split, and the lists joined. */
  split: z.enum(splitKinds).optional(),
  /** Kind of data that a read of a numbered block needs; `none` if nodes never prune it. */
  data: z.enum([...dataKinds, 'none']).optional(),
  'by-hash': z.boolean().optional(),
  /** The case of `0x` hex digits is irrelevant, in params and in the answer. */
  'any-case-hex': z.boolean().optional(),
  cost: z.int().min(1).max(100_000).optional(),
  cacheable: z.boolean().optional(),
  /** A write invalidates the cached latest answer, which clients need for their next write. */
  'until-write': z.boolean().optional(),
  deterministic: z.boolean().optional(),
  timeout: duration.optional(),
  'waits-for-block': z.boolean().optional(),
  /** Where a request says how many milliseconds its node waits; 0 or a word: without end. */
  wait: pointPlace.optional(),
  /** Errors may quote the caller: code that the call runs, or a query that the node repeats. */
  'runs-caller-code': z.boolean().optional(),
  'tells-tip': resultPath.optional(),
  /** Where other answers show their block. `unnamed`: they show the latest state, unreadably. */
  'shows-block': z
    .union([z.literal('unnamed'), resultPath], {
      error: 'must be `unnamed`, or name a place in the result such as `{ path: [blockNumber] }`.',
    })
    .optional(),
  checks: z.array(checkSchema).max(16).optional(),
  answer: z.enum(['json', 'any']).optional(),
  refusal: strict({ code: path.optional(), message: path }).optional(),
  'internal-path': z.string().startsWith('/').optional(),
})

const probeKeys = {
  method: text.optional(),
  params: z.unknown().optional(),
  path: z.string().startsWith('/').optional(),
  body: z.string().optional(),
  result: path.optional(),
  encoding: z.enum(['hex', 'decimal', 'text']).optional(),
  timeout: duration.optional(),
}

const probeSchema = strict(probeKeys)

const verificationSchema = strict({
  ...probeKeys,
  expected: text.optional(),
  severity: z.enum(['fail', 'warn']).optional(),
})

const methods = z.record(z.string().min(1).max(200), methodSchema)
const verifications = z.record(word, verificationSchema)

/** Calls that probe a node's view of the chain. */
const chainProbes = {
  'latest-block': probeSchema.optional(),
  'safe-block': probeSchema.optional(),
  'finalized-block': probeSchema.optional(),
  syncing: probeSchema.optional(),
  'latest-time': probeSchema.optional(),
  /** `kinds`: where the result shows the oldest block of data that nodes may prune earlier. */
  'oldest-block': strict({
    ...probeKeys,
    kinds: z.partialRecord(z.enum(dataKinds), path).optional(),
  }).optional(),
}
export const chainProbeNames = Object.keys(chainProbes) as (keyof typeof chainProbes)[]

const interfaceSchema = strict({
  'archive-after': blocks.optional(),
  'implied-version': z.literal('1.0').optional(),
  'request-headers': z.array(headerName).optional(),
  'response-headers': z.array(headerName).optional(),
  'block-headers': z.array(headerName).optional(),
  'tip-header': headerName.optional(),
  aliases: z.record(z.string().min(1).max(100), z.string().min(1).max(100)).optional(),
  ...chainProbes,
  verifications: verifications.optional(),
  'unasked-verifications': z.array(word).optional(),
  methods: methods.optional(),
  /** Methods of a node's operator, by name or by beginning and `*`. */
  'operator-only': z.array(methodName).min(1).optional(),
  /** Patterns of names that are reads although the spec does not list them. */
  'read-names': z.array(pattern).min(1).optional(),
  without: z.array(z.string().min(1)).optional(),
  'without-checks': z.array(z.string().min(1)).optional(),
  'add-ons': z
    .record(word, strict({ methods: methods.optional(), verifications: verifications.optional() }))
    .optional(),
})

export const nativeSchema = strict({
  id: chainId,
  extends: chainId.optional(),
  aliases: z.array(chainId).optional(),
  name: z.string().min(1).max(100).optional(),
  family: z.enum(['evm', 'solana', 'bitcoin', 'cosmos', 'aptos', 'other']).optional(),
  'block-time': duration.optional(),
  'allowed-lag': blocks.optional(),
  finality: z
    .union([z.enum(blockTags), blocks], {
      error: `must be a tag (${blockTags.join(', ')}) or a number of blocks`,
    })
    .optional(),
  /** False: answers are neither cached nor shared, because the state changes without a block. */
  cacheable: z.boolean().optional(),
  failures: z.array(word).optional(),
  'block-words': z.record(z.string().min(1).max(128), z.enum(blockTags)).optional(),
  interfaces: strict({
    jsonrpc: interfaceSchema.optional(),
    rest: interfaceSchema.optional(),
    tendermintrpc: interfaceSchema.optional(),
    grpc: interfaceSchema.optional(),
  }).optional(),
})

export type NativeSpec = z.output<typeof nativeSchema>
export type NativeInterface = z.output<typeof interfaceSchema>
export type NativeMethod = z.output<typeof methodSchema>
export type NativeBlock = z.output<typeof blockSchema>
export type NativeProbe = z.output<typeof probeSchema>
export type CheckRule = z.output<typeof checkSchema>
export type NativeVerification = z.output<typeof verificationSchema>

/** Milliseconds of a validated duration such as `1m30s`. */
export function durationMs(text: string): number {
  return parseDuration(text) ?? 0
}
