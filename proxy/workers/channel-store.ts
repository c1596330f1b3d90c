// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CacheServiceStore } from '../store/grpc/cache-store.ts'
import { storeCalls } from '../store/grpc/store-calls.ts'
import type { Entry, UnaryCall } from '../store/grpc/wire.ts'
import type { SharedStore, StoredClaim } from '../store/shared-store.ts'
import { StoreAvailability } from '../store/store-availability.ts'
import { StoreError } from '../store/store-error.ts'
import type { StoreOptions, Subscriber } from '../store/store-options.ts'

/*
 * The store of the workers, over the channel to their supervisor. All commands of one turn of the
 * event loop travel in one message, so that a command takes microseconds. Over gRPC, it takes as
 * long as a read.
 */

/** A command with its number. */
export type Ask = readonly [id: number, call: UnaryCall, entry: Entry]
/** The answer to a command. A text is why it was refused. */
export type Answer = readonly [id: number, entry: Entry | string]

/** What a worker exchanges with its supervisor. */
export interface StoreChannel {
  /** Sends commands. @returns false if the supervisor is gone */
  ask(asks: readonly Ask[]): boolean
  /** @param answered receives answers @param announced receives changed keys */
  listen(
    answered: (answers: readonly Answer[]) => void,
    announced: (entry: StoredClaim) => void,
  ): void
}

type Settle = (answer: Entry | string | null) => void

/** The commands in flight of all stores that a worker opens. */
class Commands {
  readonly #channel: StoreChannel
  readonly #pending = new Map<number, Settle>()
  readonly #watchers: ((entry: StoredClaim) => void)[] = []
  #asks: Ask[] = []
  #last = 0

  constructor(channel: StoreChannel) {
    this.#channel = channel
    channel.listen(
      (answers) => {
        for (const [id, answer] of answers) this.settle(id, answer)
      },
      (entry) => {
        for (const announced of this.#watchers) announced(entry)
      },
    )
  }

  /** @param settle receives the answer; null if there is none @returns the number of the command */
  send(call: UnaryCall, entry: Entry, settle: Settle): number {
    const id = (this.#last += 1)
    this.#pending.set(id, settle)
    if (this.#asks.push([id, call, entry]) === 1) setImmediate(() => this.#flush())
    return id
  }

  settle(id: number, answer: Entry | string | null): void {
    const settle = this.#pending.get(id)
    this.#pending.delete(id)
    settle?.(answer)
  }

  watch(announced: (entry: StoredClaim) => void): void {
    this.#watchers.push(announced)
  }

  #flush(): void {
    const asks = this.#asks
    this.#asks = []
    if (!this.#channel.ask(asks)) for (const [id] of asks) this.settle(id, null)
  }
}

/** Opens stores of one worker that share its channel. */
export function channelStores(channel: StoreChannel): (options: StoreOptions) => SharedStore {
  const commands = new Commands(channel)
  return (options) => new ChannelStore(commands, options)
}

class ChannelStore implements SharedStore {
  readonly #commands: Commands
  readonly #options: StoreOptions
  readonly #availability: StoreAvailability

  constructor(commands: Commands, options: StoreOptions) {
    this.#commands = commands
    this.#options = options
    this.#availability = new StoreAvailability(options)
  }

  get = (key: string, counter?: string) => this.#call('Get', { key, counter })

  set = (key: string, value: Buffer, ttlMs: number) => this.#call('Set', { key, value, ttlMs })

  claim = async (key: string, value: Buffer, ttlMs: number) =>
    (await this.#call('Claim', { key, value, ttlMs })).value

  session = async (key: string, generation: string, value?: Buffer, ttlMs = 0) => {
    const reply = await this.#call('Session', { key, generation, value, ttlMs })
    return { ...reply, generation: reply.generation ?? '', isOpen: reply.isOpen === true }
  }

  delete = (key: string, value?: Buffer) => this.#call('Delete', { key, value })

  increment = (key: string) => this.#call('Increment', { key })

  watch(prefix: string, { message, listening }: Subscriber<StoredClaim>): void {
    this.#commands.watch((entry) => {
      if (entry.key?.startsWith(prefix)) message(entry)
    })
    listening(true)
  }

  close(): void {
    this.#availability.close()
  }

  #call(call: UnaryCall, entry: Entry): Promise<Entry> {
    const { clock, commandTimeoutMs } = this.#options
    const ended = this.#availability.began(call.toLowerCase())
    const { promise, resolve, reject } = Promise.withResolvers<Entry>()
    const id = this.#commands.send(call, entry, (answer) => {
      cancel()
      const error = errorOf(answer)
      ended(error)
      if (error) reject(error)
      else resolve(answer as Entry)
    })
    const cancel = clock.after(commandTimeoutMs, () => this.#commands.settle(id, null))
    return promise
  }
}

function errorOf(answer: Entry | string | null): StoreError | null {
  if (answer === null) return new StoreError('timeout')
  return typeof answer === 'string' ? new StoreError('refused', answer) : null
}

/**
 * Answers the commands of workers from one store.
 * @param announce sends a changed key to every worker
 */
export function serveChannel(
  store: CacheServiceStore,
  announce: (entry: StoredClaim) => void,
): (asks: readonly Ask[]) => readonly Answer[] {
  const calls = storeCalls(store, (key, value) => announce({ key, value }))
  return (asks) =>
    asks.map(([id, call, entry]) => {
      try {
        return [id, calls[call](entry) ?? {}]
      } catch (error) {
        return [id, error instanceof RangeError ? 'full' : 'invalid']
      }
    })
}

/** Memory of the store without a cache: for sessions, heads and sent transactions. */
export const leastStoreBytes = 16 * 1024 * 1024
