// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { hash } from 'node:crypto'
import { parseSpan } from '../json/text.ts'
import type { Pool } from '../upstream/pool.ts'
import type { Call } from './call.ts'
import { RelayError, errorKinds } from './errors.ts'
import type { Reply } from './reply.ts'

/** What stands in front of the node's own id: how much of the digest of its upstream's name. */
const digestDigits = 8
/** Longer ids of nodes are left as they are. */
const nodeId = /^0x[0-9a-f]{1,64}$/i
const routedId = new RegExp(`^0x([0-9a-f]{${digestDigits}})([0-9a-f]{1,64})$`, 'i')

/**
 * Filters belong to the node that made them. The id that a client gets holds the upstream of its
 * filter, so that any replica asks that one. When it cannot be asked any more the client is told
 * `filter not found`, as a node says of a filter that has expired: libraries make a new one then.
 */
export class Filters {
  readonly #pool: Pick<Pool, 'upstreams'>
  readonly #relay: (call: Call) => Promise<Reply>

  constructor(pool: Pick<Pool, 'upstreams'>, relay: (call: Call) => Promise<Reply>) {
    this.#pool = pool
    this.#relay = relay
  }

  async create(call: Call): Promise<Reply> {
    return withRoutedId(await this.#relay(call), call)
  }

  /** Asks a filter, or ends it. */
  async use(call: Call): Promise<Reply> {
    const routed = this.#routed(call)
    if (routed === null) return this.#relay(call)
    try {
      return await this.#relay(routed)
    } catch (error) {
      if (error instanceof RelayError && isGone(error)) throw notFound(error)
      throw error
    }
  }

  /** The call as its filter's upstream understands it, and for that one alone; null for an id that is none of ours. */
  #routed(call: Call): Call | null {
    const { request, directives } = call
    if (!(request.body instanceof Uint8Array)) return null
    const question = parseSpan(request.body, 0, request.body.length) as { params?: unknown }
    const params: readonly unknown[] = Array.isArray(question.params) ? question.params : []
    const [id, ...more] = params
    const [, digest, own] = (typeof id === 'string' && routedId.exec(id)) || []
    if (digest === undefined || own === undefined) return null
    const names = this.#pool.upstreams.map(({ name }) => name)
    const name = names.find((each) => digestOf(each) === digest.toLowerCase())
    if (name === undefined) throw notFound()
    const body = Buffer.from(JSON.stringify({ ...question, params: [`0x${own}`, ...more] }))
    const blockProviders = names.filter((each) => each !== name)
    return {
      ...call,
      request: { ...request, body },
      directives: { ...directives, selectProvider: name, blockProviders },
    }
  }
}

/** The filter's upstream cannot be asked: it is gone, down, or in cooldown. */
function isGone({ kind }: RelayError): boolean {
  const { noUpstream, rateLimited, upstreamFailed } = errorKinds
  return [noUpstream, rateLimited, upstreamFailed].includes(kind as never)
}

function notFound(cause?: RelayError): RelayError {
  return new RelayError(errorKinds.filterNotFound, 'filter not found', { cause })
}

function withRoutedId(reply: Reply, { reader }: Call): Reply {
  const { incoming, refusal, upstream } = reply
  const { body } = incoming
  if (refusal !== null || !(body instanceof Uint8Array)) return reply
  const id = resultIn(body)
  if (typeof id !== 'string' || !nodeId.test(id)) return reply
  const routed = reader.write(`0x${digestOf(upstream)}${id.slice(2)}`)
  return { ...reply, incoming: { ...incoming, body: routed } }
}

/** Without checks anything may pass for an answer. */
function resultIn(body: Uint8Array): unknown {
  try {
    return (parseSpan(body, 0, body.length) as { result?: unknown } | null)?.result
  } catch {
    return undefined
  }
}

function digestOf(upstream: string): string {
  return hash('sha256', upstream, 'hex').slice(0, digestDigits)
}
