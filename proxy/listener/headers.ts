// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../config/fields/upstream-auth.ts'
import type { CrossValidated, Journal } from '../relay/call.ts'
import type { Reply } from '../relay/reply.ts'
import type { Candidate } from '../upstream/weights.ts'
import { header, type HeaderList } from '../upstream/wire.ts'

/*
 * The headers that pass between client and node, and those that the router adds to an answer.
 */

/** Headers of one connection, or of one encoding or range of a body: never passed on, even if a spec lists them. */
const ownToEachHop: ReadonlySet<string> = new Set([
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
 * Appends to `to` the headers of `from` that a spec lists, except names that `to` has already. Names of
 * `allowed` are lower case.
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
    if (!allowed.has(name) || ownToEachHop.has(name) || header(to, name) !== null) continue
    all ??= [...to]
    all.push(name, from[at + 1] as string)
  }
  return all ?? to
}

/** The headers that the router adds to an answer, for `docs/reference/headers.md`. */
export const metadataHeaders = {
  provider: {
    name: 'Rpc-Provider-Address',
    about:
      'The upstream that gave the answer, also where it was kept since. Absent when the router itself answered.',
    ofBatch: 'All that answered an item.',
  },
  upstream: {
    name: 'Router-Upstream',
    about: 'The same, under the prefix of the router.',
    ofBatch: 'The same.',
  },
  retries: {
    name: 'Rpc-Retries',
    about:
      'How many attempts at an upstream were made because an earlier one had failed; those by another URL of the same upstream are not counted.',
    ofBatch: 'The sum over the items.',
  },
  latestBlock: {
    name: 'Provider-Latest-Block',
    about: 'The latest block that this upstream is known to have. Absent while it is unknown.',
    ofBatch: 'The lowest of the upstreams that answered.',
  },
  cache: {
    name: 'Rpc-Cache',
    about:
      'What the cache did: `hit`, `miss`, `refresh`, `coalesced` (the same call was on its way already) or `bypass`. With `rpc-debug-relay` the reason follows, as in `bypass; why=pending`; see [the cache](../concepts/cache.md). Absent where nothing is kept.',
    ofBatch: 'Each that an item had, with commas.',
  },
  guid: {
    name: 'Rpc-Guid',
    about: 'Names this request in logs and traces, and in `data.guid` of errors.',
    ofBatch: 'One for the batch; that of an item is this one with `-` and its index.',
  },
  errored: {
    name: 'Rpc-Errored-Providers',
    about: 'Upstreams that failed on this request. Absent when there are none.',
    ofBatch: 'All that failed on an item.',
  },
  nodeErrors: {
    name: 'Rpc-Node-Errors-providers',
    about: "Upstreams that answered with the node's own error. Absent when there are none.",
    ofBatch: 'All that did so on an item.',
  },
  reported: {
    name: 'Rpc-Reported-Providers',
    about:
      'Upstreams that misbehaved: they claimed success and gave a cut, broken, foreign or untrue answer. Absent when there are none.',
    ofBatch: 'All that did so on an item.',
  },
  selection: {
    name: 'rpc-selection-stats',
    about:
      'With `--enable-selection-stats`: among whom the last upstream was drawn, each with its weight and its qualities, all from 0 to 1. Absent when there was nothing to draw.',
    ofBatch: 'Absent.',
  },
  validation: {
    name: 'rpc-cross-validation-status',
    about:
      '`success` or `failed`. This and the next ones are absent when the call was not cross-validated.',
    ofBatch: '`failed` if an item did.',
  },
  agreeing: {
    name: 'rpc-cross-validation-agreeing-providers',
    about: 'Upstreams whose answers match.',
    ofBatch: 'All of the items.',
  },
  disagreeing: {
    name: 'rpc-cross-validation-disagreeing-providers',
    about: 'Upstreams that gave another answer.',
    ofBatch: 'All of the items.',
  },
  validating: {
    name: 'rpc-cross-validation-all-providers',
    about: 'Upstreams that were asked, those without an answer included.',
    ofBatch: 'All of the items.',
  },
  validationFailure: {
    name: 'rpc-cross-validation-failure-reason',
    about: 'Why no answer was agreed on. Absent on success.',
    ofBatch: 'Of the first item that failed.',
  },
  version: {
    name: 'Router-Version',
    about:
      'The version of the router. On every answer but those that Node or the WebSocket library gives to requests out of form.',
    ofBatch: 'The same.',
  },
} as const

/** Collects what happened to the calls of one HTTP request, and writes it into headers. */
export class ResponseMetadata {
  readonly #guid: string
  readonly #version: string
  #retries = 0
  #latestBlock: number | null = null
  #providers: string[] | null = null
  #errored: string[] | null = null
  #nodeErrors: string[] | null = null
  #reported: string[] | null = null
  #candidates: readonly Candidate[] | null = null
  #validated: CrossValidated | null = null
  #cache: string[] | null = null
  #calls = 0

  constructor(guid: string, version: string) {
    this.#guid = guid
    this.#version = version
  }

  /**
   * Adds one call that has ended. `reply` is null when the router itself answered.
   * @param isDebugged the client asked for reasons
   */
  add(journal: Journal, reply: Reply | null, isDebugged = false): this {
    this.#calls += 1
    this.#candidates = this.#calls === 1 ? journal.candidates : null
    if (reply) {
      this.#providers = joined(this.#providers, reply.upstream)
      const block = reply.latestBlock
      if (block !== null && (this.#latestBlock === null || block < this.#latestBlock))
        this.#latestBlock = block
    }
    if (journal.crossValidation) this.#validated = merged(this.#validated, journal.crossValidation)
    const { cache } = journal
    if (cache) {
      const withWhy = isDebugged && cache.why !== null
      this.#cache = joined(
        this.#cache,
        withWhy ? `${cache.verdict}; why=${cache.why}` : cache.verdict,
      )
    }
    this.#retries += journal.retries
    for (const { upstream, result } of journal.attempts) {
      if (result === null || result === 'answer' || result === 'aborted') continue
      if (result === 'node-error' || result.whose !== 'upstream')
        this.#nodeErrors = joined(this.#nodeErrors, upstream)
      else {
        this.#errored = joined(this.#errored, upstream)
        if (result.reported) this.#reported = joined(this.#reported, upstream)
      }
    }
    return this
  }

  /** `contentType` is null for an answer without a body. */
  toHeaders(contentType: string | null): string[] {
    const names = metadataHeaders
    const headers = contentType === null ? [] : ['Content-Type', contentType]
    headers.push(names.version.name, this.#version, names.guid.name, this.#guid)
    headers.push(names.retries.name, String(this.#retries))
    if (this.#providers) {
      const providers = this.#providers.join(',')
      headers.push(names.provider.name, providers, names.upstream.name, providers)
    }
    if (this.#latestBlock !== null) headers.push(names.latestBlock.name, String(this.#latestBlock))
    if (this.#cache) headers.push(names.cache.name, this.#cache.join(','))
    if (this.#errored) headers.push(names.errored.name, this.#errored.join(','))
    if (this.#nodeErrors) headers.push(names.nodeErrors.name, this.#nodeErrors.join(','))
    if (this.#reported) headers.push(names.reported.name, this.#reported.join(','))
    if (this.#validated) headers.push(...validationHeaders(this.#validated))
    if (this.#candidates) headers.push(names.selection.name, statsOf(this.#candidates))
    return headers
  }
}

/** `node-a 1.00 (availability 1.00, latency 1.00, sync 1.00, earned 1.00); node-b ...` */
function statsOf(candidates: readonly Candidate[]): string {
  const each = candidates.map(({ name, weight, availability, latency, sync, earned }) => {
    const all = Object.entries({ availability, latency, sync, earned })
    const qualities = all.map(([quality, value]) => `${quality} ${value.toFixed(2)}`)
    return `${name} ${weight.toFixed(2)} (${qualities.join(', ')})`
  })
  return each.join('; ')
}

/** Of several items of a batch. */
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
  const headers = [names.validation.name, failure === null ? 'success' : 'failed']
  for (const [{ name }, upstreams] of [
    [names.agreeing, agreeing],
    [names.disagreeing, disagreeing],
    [names.validating, all],
  ] as const)
    if (upstreams.length > 0) headers.push(name, upstreams.join(','))
  return failure === null ? headers : [...headers, names.validationFailure.name, failure]
}

/** Adds a name that is not in the list yet. */
function joined(names: string[] | null, name: string): string[] {
  if (names === null) return [name]
  if (!names.includes(name)) names.push(name)
  return names
}
