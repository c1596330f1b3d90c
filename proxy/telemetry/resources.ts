// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { ListenerObserver } from '../listener/listener.ts'
import type { RelayObserver } from '../relay/call.ts'
import { errorKinds, type RelayError } from '../relay/errors.ts'
import type { PoolObserver } from '../upstream/observer.ts'
import { timeOf } from './config-state.ts'

/** Resources of the router itself, with the remedy for each shortage. */
const remedies = {
  files: 'raise the limit of open files, or lower the number of connections',
  ports: 'the machine has no local port left for connections to nodes: add addresses or replicas',
  'kernel-memory': 'the kernel has no memory left for connections: give the machine more memory',
  'buffered-bytes': 'raise `--max-buffered-bytes` and the memory, or add replicas',
} as const
type Resource = keyof typeof remedies
export const resources = Object.keys(remedies) as Resource[]

const resourceOf: Readonly<Record<string, Resource>> = {
  EMFILE: 'files',
  ENFILE: 'files',
  EADDRNOTAVAIL: 'ports',
}

/** How long a shortage is reported. */
const recentMs = 60_000

/** A resource that the router lacks. No upstream is at fault. */
export interface Shortage {
  readonly resource: Resource
  readonly why: string
  /** In ISO 8601. */
  readonly since: string
}

/** Records which resources the router recently lacked. */
export class Resources {
  readonly #clock: Clock
  readonly #began: (shortage: Pick<Shortage, 'resource' | 'why'>) => void
  readonly #lacked = new Map<Resource, { why: string; sinceMs: number; lastMs: number }>()

  /** @param began called once for each shortage */
  constructor(
    clock: Clock,
    began: (shortage: Pick<Shortage, 'resource' | 'why'>) => void = () => {},
  ) {
    this.#clock = clock
    this.#began = began
  }

  /** The resources that are used up now. */
  get shortages(): readonly Shortage[] {
    const fromMs = this.#clock.wallMs() - recentMs
    return [...this.#lacked]
      .filter(([, { lastMs }]) => lastMs > fromMs)
      .map(([resource, { why, sinceMs }]) => ({ resource, why, since: timeOf(sinceMs) }))
  }

  readonly relayObserver = (): Partial<RelayObserver> => ({
    attemptEnded: (_call, { result, detail }) => {
      if (typeof result === 'object' && result?.origin === 'router') this.#lacks(detail ?? '')
    },
  })

  readonly poolObserver = (): Partial<PoolObserver> => ({ exhausted: (code) => this.#lacks(code) })

  readonly listenerObserver = (): Partial<ListenerObserver> => ({
    callEnded: (_call, end) => {
      if (end.kind === 'error') this.#refused(end.error)
    },
    requestRefused: (error) => this.#refused(error),
    acceptFailed: (code) => {
      if (code in resourceOf) this.#lacks(code)
    },
  })

  /** An error with a cause names a resource of the kernel, which its attempt has reported. */
  #refused({ kind, cause }: RelayError): void {
    if (kind === errorKinds.overloaded && cause === undefined) this.#add('buffered-bytes', '')
  }

  /** @param code of the error, such as `EMFILE` */
  #lacks(code: string): void {
    this.#add(resourceOf[code] ?? 'kernel-memory', ` (${code})`)
  }

  #add(resource: Resource, code: string): void {
    const nowMs = this.#clock.wallMs()
    const why = `no ${resource} left${code}: ${remedies[resource]}`
    const { sinceMs, lastMs } = this.#lacked.get(resource) ?? { sinceMs: nowMs, lastMs: -Infinity }
    const isNew = lastMs <= nowMs - recentMs
    if (isNew) this.#began({ resource, why })
    this.#lacked.set(resource, { why, sinceMs: isNew ? nowMs : sinceMs, lastMs: nowMs })
  }
}
