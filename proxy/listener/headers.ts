// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../config/fields/upstream-auth.ts'
import { isCancelled, type CrossValidated, type Journal, type LogsNote } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'
import type { Weighed } from '../upstream/weights.ts'
import { header, type HeaderList } from '../upstream/wire.ts'

/* Headers forwarded between client and node, and headers that the router adds to an answer. */

/** Headers of one hop, encoding or range. Never forwarded, even if a spec lists them. */
const hopByHopNames: ReadonlySet<string> = new Set([
  ...hopByHop,
  'te',
  'trailer',
  'host',
  'expect',
  'content-encoding',
  'accept-encoding',
  'range',
])

/**
 * Appends to `to` the headers of `from` that a spec lists, unless `to` already has the name. Names
 * in `allowed` are lower case.
 */
export function forwardHeaders(
  from: HeaderList,
  allowed: ReadonlySet<string>,
  to: HeaderList,
): HeaderList {
  if (allowed.size === 0) return to
  let all: string[] | null = null
  for (let at = 0; at < from.length; at += 2) {
    const name = (from[at] as string).toLowerCase()
    if (!allowed.has(name) || hopByHopNames.has(name) || header(to, name) !== null) continue
    all ??= [...to]
    all.push(name, from[at + 1] as string)
  }
  return all ?? to
}

/** Headers that the router adds to an answer; `docs/reference/headers.md` describes each. */
export const metadataHeaders = {
  provider: 'Rpc-Provider-Address',
  upstream: 'Router-Upstream',
  retries: 'Rpc-Retries',
  latestBlock: 'Provider-Latest-Block',
  cache: 'Rpc-Cache',
  logs: 'Rpc-Logs',
  guid: 'Rpc-Guid',
  errored: 'Rpc-Errored-Providers',
  nodeErrors: 'Rpc-Node-Errors-providers',
  reported: 'Rpc-Reported-Providers',
  selection: 'rpc-selection-stats',
  validation: 'rpc-cross-validation-status',
  agreeing: 'rpc-cross-validation-agreeing-providers',
  disagreeing: 'rpc-cross-validation-disagreeing-providers',
  validating: 'rpc-cross-validation-all-providers',
  validationFailure: 'rpc-cross-validation-failure-reason',
  version: 'Router-Version',
} as const

/** Collects the outcomes of the calls in one HTTP request, and renders them as headers. */
export class ResponseMetadata {
  readonly #guid: string
  readonly #version: string
  #retries = 0
  #latestBlock: number | null = null
  /** Values of the headers with a list, by name. */
  readonly #lists = new Map<string, string>()
  #candidates: readonly Weighed[] | null = null
  #validated: CrossValidated | null = null
  #calls = 0

  constructor(guid: string, version: string) {
    this.#guid = guid
    this.#version = version
  }

  /**
   * Adds a finished call. `reply` is null if the router itself answered.
   * @param isDebugged the client asked for reasons
   */
  add(journal: Journal, reply: Reply | null, isDebugged = false): this {
    const names = metadataHeaders
    this.#calls += 1
    this.#candidates = this.#calls === 1 ? journal.candidates : null
    if (reply) {
      this.#join(names.provider, reply.upstream)
      this.#join(names.upstream, reply.upstream)
      const block = reply.latestBlock
      // The highest block: a client that reads that item expects at least this block next time.
      if (block !== null) this.#latestBlock = Math.max(this.#latestBlock ?? 0, block)
    }
    if (journal.crossValidation) this.#validated = merged(this.#validated, journal.crossValidation)
    const { cache } = journal
    if (cache) {
      const withWhy = isDebugged && cache.why !== null
      this.#join(names.cache, withWhy ? `${cache.verdict}; why=${cache.why}` : cache.verdict)
    }
    const { logs } = journal
    if (logs && reply?.refusal === null) this.#join(names.logs, logsText(logs, reply))
    for (const each of logs?.wrong ?? []) this.#join(names.reported, each)
    this.#retries += journal.retries
    for (const { upstream, result } of journal.attempts) {
      if (result === null || result === 'answer' || isCancelled(result)) continue
      if (result !== 'node-error' && result.origin === 'router') continue
      if (result === 'node-error' || result.origin !== 'upstream')
        this.#join(names.nodeErrors, upstream)
      else {
        this.#join(names.errored, upstream)
        if (result.reported) this.#join(names.reported, upstream)
      }
    }
    return this
  }

  /** `contentType` is null for an answer without a body. */
  toHeaders(contentType: string | null): string[] {
    const names = metadataHeaders
    const headers = contentType === null ? [] : ['Content-Type', contentType]
    headers.push(names.version, this.#version, names.guid, this.#guid)
    headers.push(names.retries, String(this.#retries))
    if (this.#latestBlock !== null) headers.push(names.latestBlock, String(this.#latestBlock))
    for (const [name, list] of this.#lists) headers.push(name, list)
    if (this.#validated) headers.push(...validationHeaders(this.#validated))
    if (this.#candidates) headers.push(names.selection, statsOf(this.#candidates))
    return headers
  }

  /** Adds a value to a comma-separated list, unless the list already has it. */
  #join(name: string, value: string): void {
    const list = this.#lists.get(name)
    if (list === undefined) this.#lists.set(name, value)
    else if (!`,${list},`.includes(`,${value},`)) this.#lists.set(name, `${list},${value}`)
  }
}

/** Formats `verified 2/2; blocks=2000; cached=0; verified=2000; requests=4`. */
function logsText({ blocks, cachedBlocks, ...note }: LogsNote, { incoming }: Reply): string {
  const { requests, verifiedBlocks, disputedBlocks } = note
  // The rest of a stream is not known yet.
  if (!(incoming.body instanceof Uint8Array)) return `streamed; blocks=${blocks}`
  const isVerified = verifiedBlocks > 0 && verifiedBlocks + cachedBlocks === blocks
  const agreed = isVerified ? 'verified 2/2' : 'single'
  const status =
    disputedBlocks > 0 ? 'disputed' : requests > 0 || cachedBlocks === 0 ? agreed : 'cached'
  return `${status}; blocks=${blocks}; cached=${cachedBlocks}; verified=${verifiedBlocks}; requests=${requests}`
}

/** Formats `node-a 1.00 (availability 1.00, latency 1.00, sync 1.00, earned 1.00); node-b ...`. */
function statsOf(candidates: readonly Weighed[]): string {
  const each = candidates.map(({ name, weight, availability, latency, sync, earned }) => {
    const all = Object.entries({ availability, latency, sync, earned })
    const qualities = all.map(([quality, value]) => `${quality} ${value.toFixed(2)}`)
    return `${name} ${weight.toFixed(2)} (${qualities.join(', ')})`
  })
  return each.join('; ')
}

/** Combines the results of several batch items. */
function merged(one: CrossValidated | null, other: CrossValidated): CrossValidated {
  if (one === null) return other
  const both = (key: 'agreeing' | 'disagreeing' | 'all') => [
    ...new Set([...one[key], ...other[key]]),
  ]
  return {
    agreeing: both('agreeing'),
    disagreeing: both('disagreeing'),
    all: both('all'),
    failure: one.failure ?? other.failure,
  }
}

function validationHeaders({ agreeing, disagreeing, all, failure }: CrossValidated): string[] {
  const names = metadataHeaders
  const headers = [names.validation, failure === null ? 'success' : 'failed']
  for (const [name, upstreams] of [
    [names.agreeing, agreeing],
    [names.disagreeing, disagreeing],
    [names.validating, all],
  ] as const)
    if (upstreams.length > 0) headers.push(name, upstreams.join(','))
  return failure === null ? headers : [...headers, names.validationFailure, failure]
}
