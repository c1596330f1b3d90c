// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { recordLimits } from '../../bytes/limits.ts'
import { Cancellation } from '../../clock/cancellation.ts'
import { systemClock as clock } from '../../clock/clock.ts'
import { systemRandom as random } from '../../clock/random.ts'
import { Secret } from '../../config/secret.ts'
import type { RouterConfig } from '../../config/types.ts'
import type { Call } from '../../relay/call.ts'
import { RelayError, errorKinds } from '../../relay/errors.ts'
import type { Relay } from '../../relay/relay.ts'
import { encodingOf, isPlainRead, type RecordedCall } from '../../telemetry/record/recording.ts'
import { header, wholeBody } from '../../upstream/wire.ts'
import { createGrpcTransport } from '../../upstream/wire/grpc/grpc-transport.ts'
import { createHttpTransport } from '../../upstream/wire/http/http-transport.ts'
import { createRouter, type RouterContext } from '../../router/router.ts'

const plain = { scheme: 'http', compression: false, tls: null } as const
const noKeys = { authHeaders: new Map(), authQuery: new Map() }

/**
 * Starts a config's router for this process only: on loopback, without cache, stores or admin
 * address. Only plain reads pass. Its upstreams are already verified once.
 */
export async function startOnLoopback(
  config: RouterConfig,
  context: Pick<RouterContext, 'catalog' | 'version' | 'logger' | 'state'>,
) {
  const pending = new Map<string, { readonly call: Call; readonly reply: ReturnType<Relay> }>()
  const guard = (relay: Relay) => (call: Call) => {
    const refusal = new RelayError(errorKinds.methodNotFound, 'no plain read')
    const reply = isPlainRead(call.method) ? relay(call) : Promise.reject(refusal)
    pending.set(call.guid, { call, reply })
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
    ...{ ...context, guard, clock, random, tracing: null, recorder: null },
    stores: { sessions: null, answers: null },
  })
  const ample = { clock, budget: new ByteBudget(Infinity) }
  const clients = [...(await router.start())].map(([{ chainId, apiInterface }, { host, port }]) => {
    const awaitsMessage = apiInterface === 'grpc'
    const url = new Secret(`http://${host}:${port}`)
    const create = awaitsMessage ? createGrpcTransport : createHttpTransport
    const transport = create({ ...plain, ...noKeys, url }, ample)
    const type = awaitsMessage ? 'application/grpc' : 'application/json'
    const headers = ['content-type', type, 'accept', type]
    const encoding = encodingOf(apiInterface)
    /** @throws RelayError, also for requests that the listener refuses @throws TransportError */
    const ask = async ({ verb, path, body }: Exclude<RecordedCall['exchange'], string>) => {
      const bytes = body === null ? null : Buffer.from(body, encoding)
      const request = { verb, path, headers, body: bytes, awaitsMessage }
      const incoming = await transport.send(request, new Cancellation())
      const whole = await wholeBody(incoming.body, recordLimits.bodyBytes)
      const answer = whole ? Buffer.from(whole).toString(encoding) : 'over 1 MiB'
      const metadata = [...incoming.headers, ...incoming.trailers()]
      const guid = header(metadata, 'rpc-guid') ?? ''
      const sent = pending.get(guid)
      pending.delete(guid)
      if (sent) return { call: sent.call, reply: await sent.reply, answer }
      throw new RelayError(errorKinds.invalidRequest, header(metadata, 'grpc-message') ?? answer)
    }
    return { chain: context.catalog.find(chainId)?.id, apiInterface, transport, ask }
  })
  await router.verified()
  return {
    /** How to replay a call; undefined if the config has no such listener. */
    asking: (of: Pick<RecordedCall, 'chain' | 'interface'>) =>
      clients.find((each) => each.chain === of.chain && each.apiInterface === of.interface)?.ask,
    async [Symbol.asyncDispose]() {
      for (const { transport } of clients) await transport.close()
      await router.stop(false)
    },
  }
}

export type LoopbackRouter = Awaited<ReturnType<typeof startOnLoopback>>
