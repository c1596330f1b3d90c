// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { TokenBucket } from './backoff.ts'
import type { KubeClient } from './client.ts'
import { type Clock, microTime, type Random } from './clock.ts'
import { Controller } from './controller.ts'
import { isAlreadyExists, isNotFound, TerminalError } from './errors.ts'
import type { KubeObject } from './object.ts'
import type { KubeObserver } from './observer.ts'
import { apiVersionOf, type Resource } from './resource.ts'

/** The same again within so long is one series. */
const seriesMs = 6 * 60_000
/** A series tells its count at most so often. */
const tellMs = 60_000
/** New events about one object: a burst, then one in five minutes. */
const perObject = { burst: 25, perSecond: 1 / 300 }
const mostSeries = 1_000
const mostTries = 5

/** What happened to an object. `reason` and `action` are from a fixed list; `note` is for people. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning'
  /** Why, in CamelCase: `SecretNotFound`. */
  readonly reason: string
  /** What was being done: `Render`. */
  readonly action: string
  /** Up to 1,024 bytes are kept. */
  readonly note: string
  readonly regarding: KubeObject
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create' | 'mergePatch'>
  /** `rpcrouter.dev/operator`. */
  readonly reportingController: string
  /** The pod. */
  readonly reportingInstance: string
  readonly clock: Clock
  readonly random: Random
  readonly observer?: KubeObserver
}

interface Series {
  event: KubeEvent
  count: number
  /** How many of them the API server knows of. */
  told: number
  lastMs: number
  lastWallMs: number
}

/**
 * Tells people what happened to an object, where `kubectl describe` shows it. Never in the way: it is
 * told in the background, the same thing again becomes a count, and too much about one object is dropped.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #writer: Controller
  /** The latest last. */
  readonly #series = new Map<string, Series>()
  readonly #buckets = new Map<string, TokenBucket>()

  constructor(options: EventRecorderOptions) {
    this.#options = options
    const { clock, random } = options
    this.#writer = new Controller({
      name: 'events',
      reconcile: (key, { signal }) => this.#write(key, signal),
      clock,
      random,
      workers: 1,
      settleMs: 0,
    })
  }

  /** Tells of one occurrence, soon. */
  record(occurrence: Occurrence): void {
    const { clock, observer } = this.#options
    const { type, reason, action, note, regarding } = occurrence
    const about = regarding.metadata.uid ?? regarding.metadata.name
    const key = JSON.stringify([about, type, reason, action, note])
    const nowMs = clock.nowMs()
    const known = this.#series.get(key)
    this.#series.delete(key)
    if (known && nowMs - known.lastMs < seriesMs) {
      known.count += 1
      known.lastMs = nowMs
      known.lastWallMs = clock.wallMs()
      this.#series.set(key, known)
      this.#writer.queue.addAfter(key, tellMs)
      return
    }
    if (!this.#bucketOf(about).tryTake()) return observer?.eventDropped?.(reason, 'rate')
    const event = this.#eventOf(occurrence)
    const lastWallMs = clock.wallMs()
    this.#series.set(key, { event, count: 1, told: 0, lastMs: nowMs, lastWallMs })
    this.#forgetOldest()
    this.#writer.enqueue(key)
  }

  /** Writes until the signal is aborted. */
  run(signal: AbortSignal): Promise<void> {
    return this.#writer.run(signal)
  }

  async #write(key: string, signal: AbortSignal): Promise<void> {
    const { client, observer } = this.#options
    const series = this.#series.get(key)
    if (series === undefined || series.told === series.count) return
    const { count } = series
    try {
      await this.#tell(client, series, count, signal)
      series.told = count
    } catch (cause) {
      if (signal.aborted || this.#writer.queue.failuresOf(key) < mostTries) throw cause
      observer?.eventDropped?.(series.event.reason, 'error', cause as Error)
      throw new TerminalError('the event cannot be told', { cause })
    }
  }

  async #tell(
    client: EventRecorderOptions['client'],
    { event, told, lastWallMs }: Series,
    count: number,
    signal: AbortSignal,
  ): Promise<void> {
    const series = { count, lastObservedTime: microTime(lastWallMs) }
    const whole = count === 1 ? event : { ...event, series }
    if (told > 0)
      try {
        await client.mergePatch(events, event.metadata, { series }, signal)
        return
      } catch (error) {
        // The API server forgets events after an hour.
        if (!isNotFound(error)) throw error
      }
    try {
      await client.create(events, whole, signal)
    } catch (error) {
      // Its name is ours alone: an earlier try went through, and its answer was lost.
      if (!isAlreadyExists(error)) throw error
      if (count > 1) await client.mergePatch(events, event.metadata, { series }, signal)
    }
  }

  #eventOf({ regarding, note, type, reason, action }: Occurrence): KubeEvent {
    const { clock, random, reportingController, reportingInstance } = this.#options
    const { name, namespace = 'default' } = regarding.metadata
    const wallMs = clock.wallMs()
    const suffix = `${wallMs.toString(16)}${Math.floor(random.next() * 2 ** 32).toString(16)}`
    const reference: ObjectReference = referenceTo(regarding)
    return {
      apiVersion: apiVersionOf(events),
      kind: events.kind,
      metadata: { namespace, name: `${name.slice(0, 220)}.${suffix}` },
      eventTime: microTime(wallMs),
      type,
      reason,
      action,
      note: fitNote(note),
      regarding: reference,
      reportingController,
      reportingInstance,
    }
  }

  #bucketOf(about: string): TokenBucket {
    const present = this.#buckets.get(about)
    if (present) return present
    const bucket = new TokenBucket({ ...perObject, clock: this.#options.clock })
    this.#buckets.set(about, bucket)
    return bucket
  }

  #forgetOldest(): void {
    const [oldest] = this.#series
    if (this.#series.size <= mostSeries || oldest === undefined) return
    const [key, { told, event }] = oldest
    this.#series.delete(key)
    if (told === 0) this.#options.observer?.eventDropped?.(event.reason, 'full')
    for (const [about, bucket] of this.#buckets) if (bucket.isFull) this.#buckets.delete(about)
  }
}

/** Names an object in an event. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
}

/** An event of `events.k8s.io/v1`. Its instants have six digits behind the second. */
export interface KubeEvent extends KubeObject {
  readonly eventTime: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly regarding: ObjectReference
  readonly reportingController: string
  readonly reportingInstance: string
  /** Present from the second time on. */
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

export const events: Resource<KubeEvent> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
}

/** The reference by which an event names an object. */
function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { name, namespace, uid } = metadata
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  }
}

/** The API server takes notes up to so many bytes of UTF-8. */
const mostNoteBytes = 1024

/** The note, cut at a whole character with `...` when it is too long. */
function fitNote(note: string): string {
  const bytes = Buffer.from(note)
  if (bytes.length <= mostNoteBytes) return note
  let end = mostNoteBytes - 3
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString()}...`
}
