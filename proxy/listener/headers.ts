// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hopByHop } from '../config/fields/upstream-auth.ts'
import { parseDuration } from '../config/units.ts'
import { type Directives, type Journal, noDirectives } from '../relay/call.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Reply } from '../relay/reply.ts'
import type { Candidate } from '../upstream/weights.ts'
import { header, type HeaderList } from '../upstream/wire.ts'

/*
 * Headers: the directives of clients for the router, the headers that pass between client and node, and
 * those that the router adds to an answer.
 */

/** A list in `rpc-providers-block` with more names than this excludes no upstream. */
const maxBlocked = 2

/** The longest delay of a timer; a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1

/** Directives of capabilities that this version lacks: a request with one is refused, not served without it. */
const notBuilt: Readonly<Record<string, string>> = {
  'rpc-stickiness': 'sticky sessions',
  'rpc-cross-validation-max-participants': 'cross-validation',
  'rpc-cross-validation-agreement-threshold': 'cross-validation',
}

/** The request headers for the router, for `docs/reference/headers.md`. */
export const directiveHeaders = [
  {
    name: 'rpc-select-provider',
    value: 'the name of an upstream',
    effect:
      'This upstream is asked first, whatever its score. The others still take over if it fails.',
  },
  {
    name: 'rpc-providers-block',
    value: `up to ${maxBlocked} names of upstreams, separated by commas`,
    effect: `These upstreams are not asked. A list of more than ${maxBlocked} is ignored: no upstream is excluded and no error is given.`,
  },
  {
    name: 'rpc-extension',
    value: 'the name of an extension such as `archive`, in any case',
    effect: 'Only upstreams that declare it are asked.',
  },
  {
    name: 'rpc-relay-timeout',
    value: 'a duration such as `500ms`, `5s` or `1m30s`',
    effect:
      'The time of each attempt, verbatim: `--min-relay-timeout` does not raise it. A value that is not a duration above zero is refused with -32600.',
  },
  {
    name: 'rpc-force-cache-refresh',
    value: 'anything',
    effect:
      'The call goes to an upstream although its answer is kept, and the new answer is kept instead.',
  },
  {
    name: 'rpc-debug-relay',
    value: '`true`',
    effect:
      'A line in the log for each attempt of this request, and the reason in `Rpc-Cache`. `false`, `0` and nothing mean no.',
  },
] as const

/**
 * Reads the directives, or returns the error for a value that is invalid. Of a header that comes twice
 * the first counts, except for `rpc-providers-block`, whose lists are joined.
 */
export function readDirectives(headers: HeaderList): Directives | RelayError {
  let directives: { -readonly [Key in keyof Directives]: Directives[Key] } | null = null
  let blocked: string[] | null = null
  let timeoutMs: number | null = null
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] as string
    if (!isDirective(name)) continue
    const value = (headers[at + 1] as string).trim()
    directives ??= { ...noDirectives }
    const lower = name.toLowerCase()
    const capability = notBuilt[lower]
    if (capability !== undefined) {
      const message = `this version of the router has no ${capability}, so it cannot do what the header ${lower} asks for; send the request without it`
      return new RelayError(errorKinds.unsupportedDirective, message)
    }
    switch (lower) {
      case 'rpc-select-provider':
        directives.selectProvider ??= value || null
        break
      case 'rpc-providers-block':
        blocked ??= []
        blocked.push(...value.split(/\s*,\s*/).filter((each) => each !== ''))
        break
      case 'rpc-extension':
        directives.extension ??= value.toLowerCase() || null
        break
      case 'rpc-relay-timeout':
        timeoutMs ??= parseDuration(value) ?? 0
        break
      case 'rpc-force-cache-refresh':
        directives.refreshCache = true
        break
      case 'rpc-debug-relay':
        directives.debugRelay ||= !['', '0', 'false'].includes(value.toLowerCase())
        break
    }
  }
  if (directives === null) return noDirectives
  if (blocked !== null && blocked.length <= maxBlocked) directives.blockProviders = blocked
  if (timeoutMs !== null && timeoutMs <= 0) {
    const message =
      'the header rpc-relay-timeout is not a duration above zero; write it like 500ms, 5s or 1m30s'
    return new RelayError(errorKinds.invalidRequest, message)
  }
  if (timeoutMs !== null) directives.relayTimeoutMs = Math.min(timeoutMs, maxTimerMs)
  return directives
}

/** Cheap, since it looks at every header of every request. */
function isDirective(name: string): boolean {
  return name.charCodeAt(3) === 0x2d && name.slice(0, 3).toLowerCase() === 'rpc'
}

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
    const { cache } = journal
    if (cache) {
      const isTold = isDebugged && cache.why !== null
      this.#cache = joined(
        this.#cache,
        isTold ? `${cache.verdict}; why=${cache.why}` : cache.verdict,
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

/** Adds a name that is not in the list yet. */
function joined(names: string[] | null, name: string): string[] {
  if (names === null) return [name]
  if (!names.includes(name)) names.push(name)
  return names
}
