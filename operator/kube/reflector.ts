// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Backoff, type BackoffRow } from '../../proxy/clock/backoff.ts'
import type { WatchEvent } from './answers.ts'
import type { KubeClient, Selection } from './client.ts'
import { type Clock, type Random, sleep } from './clock.ts'
import { ApiError, isExpired, isForbidden, isUnknownKind, KubeError } from './errors.ts'
import { isOlder, type KubeObject, type Resource } from './object.ts'
import type { KubeObserver } from './observer.ts'
import type { Store } from './store.ts'

/** The server ends each watch after 5 to 10 minutes, so that load moves to new API servers. */
const watchSeconds = { least: 300, spread: 300 }
/** The API server sends a bookmark every minute, so a longer silence means a dead connection. */
const usualSilenceMs = 150_000
/** A shorter watch without an event is a failure; otherwise it would be retried without a pause. */
const minMs = 1_000
const usualBackoff: BackoffRow = { firstMs: 1_200, maxMs: 45_000, jitter: 0.3 }
/** The backoff resets after this time without a failure. */
const forgiveMs = 120_000

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>
  readonly resource: Resource<T>
  readonly store: Pick<Store<T>, 'set' | 'delete' | 'replace'>
  readonly clock: Clock
  readonly random: Random
  readonly selection?: Selection
  /** Reduces an object before it is stored. Must retain name, uid and version. */
  readonly keep?: (object: T) => T
  readonly observer?: KubeObserver
  readonly backoff?: BackoffRow
  readonly silenceMs?: number
  /** Reports whether an optional kind exists. An absent kind counts as synced. */
  readonly onServed?: (isServed: boolean) => void
}

/** Interval at which a kind that the cluster lacks is listed again. */
const relistAfterMs = 60_000

/**
 * Keeps a store equal to the API server's state: lists, watches from the list's version, and
 * repeats both whenever they end. Only its signal ends it, never a failed connection.
 */
export class Reflector<T extends KubeObject> {
  readonly #options: ReflectorOptions<T>
  readonly #backoff: Backoff
  readonly #firstList = Promise.withResolvers<void>()
  /** Whether the first list is in the store. */
  hasSynced = false
  #version: string | null = null
  #receivedAtMs: number
  #failedAtMs = -Infinity

  constructor(options: ReflectorOptions<T>) {
    this.#options = options
    this.#backoff = new Backoff(options.backoff ?? usualBackoff, options.random)
    this.#receivedAtMs = options.clock.nowMs()
  }

  /** Resolves when the first list is in the store. */
  get synced(): Promise<void> {
    return this.#firstList.promise
  }

  /** The namespace that it watches; null for the whole cluster. */
  get namespace(): string | null {
    return this.#options.selection?.namespace ?? null
  }

  /** Milliseconds since the last list, event or bookmark, or since its construction. */
  get silentMs(): number {
    return this.#options.clock.nowMs() - this.#receivedAtMs
  }

  /**
   * Runs until the signal aborts, then resolves with no request in flight.
   * @throws the error of a store's listener, because that is a bug
   */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, observer, onServed, resource } = this.#options
    while (!signal.aborted) {
      const verb = this.#version === null ? 'list' : 'watch'
      try {
        if (this.#version === null) await this.#list(signal)
        else await this.#watch(this.#version, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof KubeError)) throw error
        const isOptional = onServed !== undefined && (isUnknownKind(error) || isForbidden(error))
        if (isOptional) this.#forget(isUnknownKind(error))
        if (isExpired(error)) this.#version = null
        const retryMs = isOptional ? relistAfterMs : this.#retryMs(error)
        if (!isOptional) observer?.reflectFailed?.(resource.plural, verb, error, retryMs)
        await sleep(clock, retryMs, signal).catch(() => {})
      }
    }
  }

  /** Caps `Retry-After` at the maximum backoff, because it may come from a proxy. */
  #retryMs(error: KubeError): number {
    const { clock, backoff = usualBackoff } = this.#options
    const nowMs = clock.nowMs()
    if (nowMs - this.#failedAtMs > forgiveMs) this.#backoff.reset()
    this.#failedAtMs = nowMs
    const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0
    return Math.max(Math.min(retryAfterMs, backoff.maxMs), this.#backoff.next())
  }

  /** Treats a kind as empty if it does not exist, or if the operator may not list it. */
  #forget(isUnknown: boolean): void {
    const { store, selection, clock, onServed } = this.#options
    this.#version = null
    this.#receivedAtMs = clock.nowMs()
    store.replace([], selection?.namespace)
    if (isUnknown) onServed?.(false)
    this.#listed()
  }

  #listed(): void {
    this.hasSynced = true
    this.#firstList.resolve()
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { client, resource, selection = {}, keep, store, clock, observer } = this.#options
    const startedMs = clock.nowMs()
    const { items, resourceVersion } = await listAll(client, resource, selection, signal, keep)
    // The reflector was stopped in the meantime, so the changes no longer matter.
    if (signal.aborted) return
    store.replace(items, selection.namespace)
    this.#received(resourceVersion)
    observer?.listed?.(resource.plural, items.length, clock.nowMs() - startedMs)
    this.#listed()
  }

  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { client, resource, selection, clock, random, silenceMs = usualSilenceMs } = this.#options
    const startedMs = clock.nowMs()
    const timeoutSeconds = Math.round(watchSeconds.least + random.next() * watchSeconds.spread)
    const options = { ...selection, resourceVersion, timeoutSeconds, silenceMs }
    for await (const event of client.watch(resource, options, signal)) {
      if (signal.aborted) return
      this.#take(event)
    }
    // A bookmark with the initial version brings nothing new.
    const isEmpty = this.#version === resourceVersion
    if (isEmpty && clock.nowMs() - startedMs < minMs && !signal.aborted)
      throw new EmptyWatchError(
        `GET ${resource.plural}: the watch ended at once, with nothing new in it`,
      )
  }

  #take(event: WatchEvent<T>): void {
    const { store, keep = (object: T) => object } = this.#options
    if (event.type === 'BOOKMARK') return this.#received(event.resourceVersion)
    const version = event.object.metadata.resourceVersion as string
    // A server that starts further back repeats known events, even of deleted objects.
    if (this.#hasPassed(version)) return this.#received(version)
    if (event.type === 'DELETED') store.delete(keep(event.object))
    else store.set(keep(event.object))
    this.#received(version)
  }

  /** Records progress from the server. The version of the next watch never moves back. */
  #received(version: string): void {
    const { clock, onServed } = this.#options
    this.#receivedAtMs = clock.nowMs()
    onServed?.(true)
    if (!this.#hasPassed(version)) this.#version = version
  }

  /** Whether this version, or a newer one, was already received. */
  #hasPassed(version: string): boolean {
    return version === this.#version || isOlder(version, this.#version ?? undefined)
  }
}

/** Resolves when all reflectors have listed their kind, or when the signal aborts. */
export async function synced(
  reflectors: readonly Pick<Reflector<KubeObject>, 'synced'>[],
  signal: AbortSignal,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  await Promise.race([stopped, Promise.all(reflectors.map((reflector) => reflector.synced))])
}

/** The server closed the watch immediately without sending an event. */
class EmptyWatchError extends KubeError {
  readonly code = 'OP_KUBE_EMPTY_WATCH'
}

const pageSize = 500

export interface FullList<T extends KubeObject> {
  readonly items: T[]
  readonly resourceVersion: string
}

/**
 * Returns every object of the selection, as of one version. It lists page by page. If the version
 * expires between pages, it lists everything in one request instead.
 */
export async function listAll<T extends KubeObject>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource<T>,
  selection: Selection,
  signal: AbortSignal,
  keep: (object: T) => T = (object) => object,
): Promise<FullList<T>> {
  const items: T[] = []
  let from: { continue?: string } = {}
  for (;;) {
    const page = await client
      .list(resource, { ...selection, ...from, limit: pageSize }, signal)
      .catch((error: unknown) => {
        if (from.continue === undefined || !isExpired(error)) throw error
        items.length = 0
        return client.list(resource, selection, signal)
      })
    for (const item of page.items) items.push(keep(item))
    if (page.continue === undefined) return { items, resourceVersion: page.resourceVersion }
    from = { continue: page.continue }
  }
}
