// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from './client.ts'
import { type Clock, microTime, type Random } from './clock.ts'
import { Controller } from './controller.ts'
import { type KubeObject, apiVersionOf, type Resource } from './object.ts'
import type { KubeObserver } from './observer.ts'

/** Repetitions within this time belong to the same series. */
const seriesMs = 6 * 60_000
/** Minimum interval between writes of a series' count. */
const countMs = 60_000
/** Maximum number of new Events about one object per hour. */
const maxPerObject = 25
const hourMs = 3_600_000
const maxSeries = 1_000
const maxTries = 5
/** Maximum length of a note in the API, in bytes of UTF-8. */
const maxNoteBytes = 1024

/** An occurrence on an object. `reason` and `action` come from fixed lists; users read `note`. */
export interface Occurrence {
  readonly type: 'Normal' | 'Warning'
  /** Reason in CamelCase: `SecretNotFound`. */
  readonly reason: string
  /** Action in progress: `Render`. */
  readonly action: string
  /** Text for users, truncated to 1,024 bytes. */
  readonly note: string
  readonly regarding: KubeObject
}

/** An Event of `events.k8s.io/v1`. Its times are MicroTime, with six decimal places. */
export interface KubeEvent extends KubeObject, Omit<Occurrence, 'regarding'> {
  readonly eventTime: string
  readonly regarding: Pick<KubeObject, 'apiVersion' | 'kind'> &
    Pick<KubeObject['metadata'], 'name' | 'namespace' | 'uid'>
  readonly reportingController: string
  readonly reportingInstance: string
  /** Present from the second occurrence on. */
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

export const events: Resource<KubeEvent> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
}

export interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'apply'>
  /** `rpcrouter.dev/operator`. */
  readonly reportingController: string
  /** Name of the operator's pod. */
  readonly reportingInstance: string
  /** Field manager of the applied Events. */
  readonly fieldManager: string
  readonly clock: Clock
  readonly random: Random
  readonly observer?: KubeObserver
}

interface Series {
  readonly event: KubeEvent
  readonly firstMs: number
  lastMs: number
  lastWallMs: number
  count: number
  /** The count stored in the API server. */
  written: number
}

/**
 * Writes occurrences as Events, which `kubectl describe` shows. It writes in the background, counts
 * repetitions in one Event, and limits the Events of each object.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #writer: Controller
  /** Ordered by the last occurrence, newest last. */
  readonly #series = new Map<string, Series>()

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#writer = new Controller({
      name: 'events',
      reconcile: (key, { signal }) => this.#write(key, signal),
      clock: options.clock,
      random: options.random,
      workers: 1,
      settleMs: 0,
    })
  }

  /** Queues one occurrence for writing. */
  record(occurrence: Occurrence): void {
    const { clock, observer } = this.#options
    const { type, reason, action, note, regarding } = occurrence
    const { uid, name } = regarding.metadata
    const key = JSON.stringify([uid ?? name, type, reason, action, note])
    const [nowMs, wallMs] = [clock.nowMs(), clock.wallMs()]
    const known = this.#series.get(key)
    if (known && nowMs - known.lastMs < seriesMs) {
      this.#series.delete(key)
      const { count } = known
      this.#series.set(
        key,
        Object.assign(known, { count: count + 1, lastMs: nowMs, lastWallMs: wallMs }),
      )
      return this.#writer.queue.addAfter(key, countMs)
    }
    const recent = [...this.#series.values()].filter(
      ({ event, firstMs }) => event.regarding.uid === uid && nowMs - firstMs < hourMs,
    )
    if (recent.length >= maxPerObject) return observer?.eventDropped?.(reason, 'rate')
    const times = { firstMs: nowMs, lastMs: nowMs, lastWallMs: wallMs }
    const event = this.#eventOf(occurrence, wallMs)
    this.#series.delete(key)
    this.#series.set(key, { event, ...times, count: 1, written: 0 })
    this.#forgetOldest()
    this.#writer.enqueue(key)
  }

  /** Runs until the signal aborts. */
  run(signal: AbortSignal): Promise<void> {
    return this.#writer.run(signal)
  }

  /** Applies the Event with its count. An apply is idempotent, so a lost answer is harmless. */
  async #write(key: string, signal: AbortSignal): Promise<void> {
    const { client, observer, fieldManager } = this.#options
    const known = this.#series.get(key)
    if (known === undefined || known.written === known.count) return
    const { event, count, lastWallMs } = known
    const series = { count, lastObservedTime: microTime(lastWallMs) }
    const whole = count === 1 ? event : { ...event, series }
    try {
      await client.apply(events, whole, { fieldManager, force: true }, signal)
      known.written = count
    } catch (error) {
      if (signal.aborted || this.#writer.queue.failuresOf(key) < maxTries) throw error
      observer?.eventDropped?.(event.reason, 'error', error as Error)
    }
  }

  #eventOf({ regarding, note, type, reason, action }: Occurrence, wallMs: number): KubeEvent {
    const { random, reportingController, reportingInstance } = this.#options
    const { apiVersion, kind, metadata } = regarding
    const { name, namespace, uid } = metadata
    const suffix = `${wallMs.toString(16)}${Math.floor(random.next() * 2 ** 32).toString(16)}`
    return {
      apiVersion: apiVersionOf(events),
      kind: events.kind,
      metadata: { namespace: namespace ?? 'default', name: `${name.slice(0, 220)}.${suffix}` },
      eventTime: microTime(wallMs),
      type,
      reason,
      action,
      note: fitNote(note),
      regarding: { apiVersion, kind, name, namespace, uid },
      reportingController,
      reportingInstance,
    }
  }

  #forgetOldest(): void {
    const [oldest] = this.#series
    if (this.#series.size <= maxSeries || oldest === undefined) return
    const [key, { written, event }] = oldest
    this.#series.delete(key)
    if (written === 0) this.#options.observer?.eventDropped?.(event.reason, 'full')
  }
}

/** Truncates a long note at a whole character and appends `...`. */
function fitNote(note: string): string {
  const bytes = Buffer.from(note)
  if (bytes.length <= maxNoteBytes) return note
  let end = maxNoteBytes - 3
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString()}...`
}
