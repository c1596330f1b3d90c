// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { nodeLimits } from '../../bytes/limits.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { sleep, systemClock as clock } from '../../clock/clock.ts'
import { systemRandom } from '../../clock/random.ts'
import { Secret } from '../../config/secret.ts'
import type { RouterConfig } from '../../config/types.ts'
import { parseJson } from '../../json/scanner.ts'
import type { Call } from '../../relay/call.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Relay } from '../../relay/relay.ts'
import { BadRecording, type ReadCall, whyNot } from '../../telemetry/record/recording.ts'
import { header, type Outgoing, type TransportError, wholeBody } from '../../upstream/wire.ts'
import { createGrpcTransport } from '../../upstream/wire/grpc/grpc-transport.ts'
import { createHttpTransport } from '../../upstream/wire/http/http-transport.ts'
import { createRouter, type RouterParts } from '../router.ts'

/** An upstream that hangs keeps the others waiting no longer. */
const maxVerificationMs = 10_000

/** A call, what the router answers, and what its client got of that: null where it broke off, or is over 16 MiB. */
interface Answered {
  readonly call: Call
  readonly reply: ReturnType<Relay>
  readonly body: Uint8Array | null
}

const noKeys = { authHeaders: new Map(), authQuery: new Map() }
const plain = { scheme: 'http', compression: false, tls: null, ...noKeys } as const
const jsonHeaders = ['content-type', 'application/json', 'accept', 'application/json']
const grpcHeaders = ['content-type', 'application/grpc']

/**
 * Starts the router of a config as `router run` does, but for this process alone: on loopback, without cache, stores and
 * admin address. Plain reads alone pass it. Its upstreams have been verified once, or 10 s were over.
 */
export async function startOnLoopback(
  config: RouterConfig,
  parts: Pick<RouterParts, 'catalog' | 'version' | 'logger' | 'state'>,
) {
  const known = new Map<string, Omit<Answered, 'body'>>()
  const guard = (relay: Relay) => (call: Call) => {
    const why = whyNot(call.asked)
    const reply =
      why === null ? relay(call) : Promise.reject(new RelayError(errorKinds.methodNotFound, why))
    known.set(call.guid, { call, reply })
    return reply
  }
  const address = { host: '127.0.0.1', port: 0 }
  const own = {
    ...config,
    endpoints: config.endpoints.map((endpoint) => ({ ...endpoint, address })),
    ...{ metricsListenAddress: null, sharedState: false },
    cache: { ...config.cache, maxBytes: 0 },
  }
  const router = createRouter(own, {
    ...{ ...parts, guard, clock, random: systemRandom, tracing: null, recorder: null },
    stores: { sessions: null, answers: null },
  })
  const ample = new ByteBudget(Infinity)
  const clients = [...(await router.start())].map(([{ chainId, apiInterface }, at]) => {
    const isGrpc = apiInterface === 'grpc'
    const url = new Secret(`http://${at.host}:${at.port}`)
    const create = isGrpc ? createGrpcTransport : createHttpTransport
    const transport = create({ ...plain, url }, { clock, budget: ample })
    const form = { headers: isGrpc ? grpcHeaders : jsonHeaders, awaitsMessage: isGrpc }
    /** @throws BadRecording where the listener takes the request for no call */
    const ask = async (request: Omit<Outgoing, 'headers'>, line: number): Promise<Answered> => {
      const refuse = (why: string) => new BadRecording(`request: ${why}`, line)
      const sent = transport.send({ ...request, ...form }, new Cancellation())
      const incoming = await sent.catch((cause: unknown) => {
        throw refuse(`it cannot be sent: ${(cause as TransportError).message}`)
      })
      const body = await wholeBody(incoming.body, nodeLimits.wholeBytes).catch(() => null)
      const given = [...incoming.headers, ...incoming.trailers()]
      const guid = header(given, 'rpc-guid') ?? ''
      const seen = known.get(guid)
      known.delete(guid)
      if (seen) return { ...seen, body }
      const refusal = body && (parseJson(body) as { error?: { message?: string } } | undefined)
      throw refuse(header(given, 'grpc-message') ?? refusal?.error?.message ?? 'it is no call')
    }
    return { chainId, apiInterface, transport, ask }
  })
  await Promise.race([router.verified(), sleep(clock, maxVerificationMs)])
  return {
    /** How to ask what a call asks, and the policies of its method; null where the config has no such listener. */
    serving(recorded: ReadCall) {
      const chain = parts.catalog.find(recorded.chain)
      const isOwn = (each: { readonly chainId: string; readonly apiInterface: string }) =>
        parts.catalog.find(each.chainId) === chain && each.apiInterface === recorded.interface
      const client = clients.find(isOwn)
      return client ? { ask: client.ask, policies: config.policies.filter(isOwn) } : null
    },
    async [Symbol.asyncDispose]() {
      for (const { transport } of clients) await transport.close()
      await router.stop()
    },
  }
}
