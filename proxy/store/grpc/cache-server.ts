// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type handleUnaryCall,
  setLogger,
  status,
} from '@grpc/grpc-js'
import { cacheServiceLimits } from '../../bytes/limits.ts'
import type { Clock } from '../../clock/clock.ts'
import type { CacheServiceStore } from './cache-store.ts'
import { cacheService, type Entry, type UnaryCall } from './wire.ts'

type Watcher = ServerWritableStream<Entry, Entry>

const none = new Uint8Array(0)

/** Serves a cache store to the routers that share it, as cache.proto defines. */
export class CacheServer {
  readonly #server: Server
  readonly #watchers = new Set<Watcher>()

  /** @param count records each call's result: `hit` or `miss` for Get, `ok`, `full`, `invalid` */
  constructor(store: CacheServiceStore, count: (call: UnaryCall, verdict: string) => void) {
    const calls: Readonly<Record<UnaryCall, (entry: Entry) => Entry | void>> = {
      Get: ({ key = '', counter = '' }) => ({ ...store.get(key), count: store.counter(counter) }),
      Set: ({ key = '', value = none, ttlMs = 0 }) => store.set(key, value, ttlMs),
      Claim: ({ key = '', value = none, ttlMs = 0 }) => store.claim(key, value, ttlMs),
      Session: ({ key = '', generation = '', value, ttlMs = 0 }) =>
        store.session(key, generation, value, ttlMs),
      Delete: ({ key = '', value }) => {
        store.delete(key, value)
        this.#announce(key, value)
      },
      Increment: ({ key = '' }) => {
        const made = { count: store.increment(key) }
        this.#announce(key)
        return made
      },
    }
    const answering = (name: UnaryCall): handleUnaryCall<Entry, Entry> => {
      return ({ request }, reply) => {
        try {
          const entry = calls[name](request) ?? {}
          count(name, name === 'Get' ? (entry.value ? 'hit' : 'miss') : 'ok')
          reply(null, entry)
        } catch (error) {
          const isFull = error instanceof RangeError
          count(name, isFull ? 'full' : 'invalid')
          const code = isFull ? status.RESOURCE_EXHAUSTED : status.INVALID_ARGUMENT
          reply({ code, details: (error as Error).message })
        }
      }
    }
    // The library would write to stderr.
    setLogger({})
    this.#server = new Server({
      'grpc.max_receive_message_length': cacheServiceLimits.messageBytes,
      // Ends connections whose clients vanished silently.
      'grpc.keepalive_time_ms': 30_000,
    })
    const names = Object.keys(calls) as UnaryCall[]
    this.#server.addService(cacheService, {
      ...Object.fromEntries(names.map((name) => [name, answering(name)])),
      Watch: (watcher: Watcher) => {
        this.#watchers.add(watcher)
        watcher.sendMetadata(new Metadata())
        for (const over of ['cancelled', 'error', 'finish'])
          watcher.on(over, () => this.#watchers.delete(watcher))
      },
    })
  }

  /**
   * @param at `host:port` or `unix:/path`
   * @returns the port. @throws Error that names the address
   */
  start(at: string): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(at, ServerCredentials.createInsecure(), (cause, port) => {
        const [why = cause?.message] = /\bE[A-Z]{3,}\b/.exec(cause?.message ?? '') ?? []
        if (cause) reject(new Error(`the cache service cannot listen on ${at}: ${why}`, { cause }))
        else resolve(port)
      })
    })
  }

  /** Drains calls. @returns whether all of them ended in time */
  stop(clock: Clock, drainMs: number): Promise<boolean> {
    for (const watcher of this.#watchers) watcher.end()
    return new Promise((resolve) => {
      const cancel = clock.after(drainMs, () => {
        this.#server.forceShutdown()
        resolve(false)
      })
      this.#server.tryShutdown(() => {
        cancel()
        resolve(true)
      })
    })
  }

  #announce(key: string, value?: Uint8Array): void {
    for (const watcher of this.#watchers)
      if (key.startsWith(watcher.request.key ?? '')) watcher.write({ key, value })
  }
}
