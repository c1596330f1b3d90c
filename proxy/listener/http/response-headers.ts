// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Journal } from '../../relay/journal.ts'
import type { Reply } from '../../relay/reply.ts'
import type { Candidate } from '../../upstream/weights.ts'

/** The headers by which an answer tells how it came about, for `docs/reference/headers.md`. */
export const metadataHeaders = {
  provider: {
    name: 'Rpc-Provider-Address',
    about: 'The upstream that gave the answer. Absent when the router itself answered.',
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

/** Gathers what happened to the calls of one HTTP request, and puts it into headers. */
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
  #calls = 0

  constructor(guid: string, version: string) {
    this.#guid = guid
    this.#version = version
  }

  /** Adds one call that came to its end. `reply` is null where the router itself answered. */
  add(journal: Journal, reply: Reply | null): void {
    this.#calls += 1
    this.#candidates = this.#calls === 1 ? journal.candidates : null
    if (reply) {
      this.#providers = joined(this.#providers, reply.upstream)
      const block = reply.latestBlock
      if (block !== null && (this.#latestBlock === null || block < this.#latestBlock))
        this.#latestBlock = block
    }
    for (const { kind, upstream, result } of journal.attempts) {
      if (kind === 'retry') this.#retries += 1
      if (result === null || result === 'answer' || result === 'aborted') continue
      if (result === 'node-error' || result.whose !== 'upstream')
        this.#nodeErrors = joined(this.#nodeErrors, upstream)
      else {
        this.#errored = joined(this.#errored, upstream)
        if (result.reported) this.#reported = joined(this.#reported, upstream)
      }
    }
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
    const told = Object.entries({ availability, latency, sync, earned })
    const qualities = told.map(([quality, value]) => `${quality} ${value.toFixed(2)}`)
    return `${name} ${weight.toFixed(2)} (${qualities.join(', ')})`
  })
  return each.join('; ')
}

/** Each name once, in the order of their first coming. */
function joined(names: string[] | null, name: string): string[] {
  if (names === null) return [name]
  if (!names.includes(name)) names.push(name)
  return names
}
