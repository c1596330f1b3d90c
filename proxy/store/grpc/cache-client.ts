// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Client,
  type ClientReadableStream,
  credentials,
  type ServiceError,
  setLogger,
  status,
} from '@grpc/grpc-js'
import { cacheServiceLimits } from '../../bytes/limits.ts'
import { StoreError, type StoreFault } from '../store-error.ts'
import { setTimeoutMs, type SharedStore } from '../shared-store.ts'
import { cacheService, type Entry, type UnaryCall } from './wire.ts'
import { type StoreOptions, type Subscriber } from '../store-options.ts'
import { StoreAvailability } from '../store-availability.ts'

const faultOf: Readonly<Record<number, StoreFault>> = {
  [status.RESOURCE_EXHAUSTED]: 'full',
  [status.UNAVAILABLE]: 'unreachable',
}
const watchAgainMs = 500

const channelOptions = {
  'grpc.max_receive_message_length': cacheServiceLimits.messageBytes,
  'grpc.max_send_message_length': cacheServiceLimits.messageBytes,
  'grpc-node.flow_control_window': 1024 * 1024,
  // A hanging service answers no ping. The client then reconnects, again and again.
  'grpc.keepalive_time_ms': 500,
  'grpc.keepalive_timeout_ms': 1_000,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  'grpc.client_idle_timeout_ms': 2 ** 31 - 1,
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
}

/** Client of the cache service. A call fails if there is no connection, or after its timeout. */
export class CacheClient implements SharedStore {
  readonly #client: Client
  readonly #options: StoreOptions
  readonly #availability: StoreAvailability
  readonly #watches = new Set<ClientReadableStream<Entry>>()
  #isClosed = false

  /** @param target as gRPC names it: `host:port` or `unix:/path` */
  constructor(target: string, options: StoreOptions) {
    // The library would write to stderr, but the router logs this itself.
    setLogger({})
    this.#options = options
    this.#availability = new StoreAvailability(options)
    this.#client = new Client(target, credentials.createInsecure(), channelOptions)
    // Starts connecting immediately.
    this.#client.getChannel().getConnectivityState(true)
  }

  get = (key: string, counter?: string) => this.#call('Get', { key, counter })

  set = (key: string, value: Buffer, ttlMs: number) =>
    this.#call('Set', { key, value, ttlMs }, setTimeoutMs)

  claim = async (key: string, value: Buffer, ttlMs: number) =>
    (await this.#call('Claim', { key, value, ttlMs })).value

  session = async (key: string, generation: string, value?: Buffer, ttlMs = 0) => {
    const reply = await this.#call('Session', { key, generation, value, ttlMs })
    return { ...reply, generation: reply.generation ?? '', isOpen: reply.isOpen === true }
  }

  delete = (key: string, value?: Buffer) => this.#call('Delete', { key, value })

  increment = (key: string) => this.#call('Increment', { key })

  watch(prefix: string, subscriber: Subscriber<Entry>): void {
    if (this.#isClosed) return
    const { path, requestSerialize: write, responseDeserialize: read } = cacheService.Watch
    const stream = this.#client.makeServerStreamRequest(path, write, read, { key: prefix })
    this.#watches.add(stream)
    stream.on('metadata', () => subscriber.listening(true))
    stream.on('data', subscriber.message)
    // The status event follows and reports the error.
    stream.on('error', () => {})
    stream.on('status', () => {
      this.#watches.delete(stream)
      subscriber.listening(false)
      this.#options.clock.after(watchAgainMs * (0.5 + this.#options.random.next()), () =>
        this.watch(prefix, subscriber),
      )
    })
  }

  close(): void {
    this.#isClosed = true
    this.#availability.close()
    for (const stream of this.#watches) stream.cancel()
    this.#client.close()
  }

  #call(name: UnaryCall, entry: Entry, timeoutMs = this.#options.commandTimeoutMs): Promise<Entry> {
    const { path, requestSerialize: write, responseDeserialize: read } = cacheService[name]
    const { promise, resolve, reject } = Promise.withResolvers<Entry>()
    const ended = (failure: ServiceError | null, reply: Entry = {}) =>
      failure ? reject(errorOf(failure)) : resolve(reply)
    const request = this.#client.makeUnaryRequest(path, write, read, entry, ended)
    const isWrite = name !== 'Get' && (name !== 'Session' || entry.value !== undefined)
    return this.#availability
      .run(name.toLowerCase(), isWrite, timeoutMs, () => promise)
      .finally(() => request.cancel())
  }
}

function errorOf({ code }: ServiceError): StoreError {
  const fault = faultOf[code]
  return fault ? new StoreError(fault) : new StoreError('refused', status[code])
}
