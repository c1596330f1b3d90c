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
/** Resources whose shortage slows the router down, without an error. */
const otherRemedies = {
  cpu: 'give it more CPU, or add replicas',
  memory: 'give it more memory, or add replicas',
} as const
type Resource = keyof typeof remedies
type Strainable = Resource | keyof typeof otherRemedies
/** Names to print where the label of the metric is not a word. */
const names: Readonly<Partial<Record<Strainable, string>>> = {
  'kernel-memory': 'kernel memory',
  'buffered-bytes': 'memory for buffered requests and answers',
  cpu: 'CPU',
}
export const resources = Object.keys(remedies) as Resource[]

const resourceOf: Readonly<Record<string, Resource>> = {
  EMFILE: 'files',
  ENFILE: 'files',
  EADDRNOTAVAIL: 'ports',
}

/** How long a shortage is reported. */
const recentMs = 60_000

/** A resource that the router lacks, or is about to lack. No upstream is at fault. */
export interface Shortage {
  readonly resource: Strainable
  /** Whether some is left. */
  readonly isStrain: boolean
  readonly why: string
  /** In ISO 8601. */
  readonly since: string
}

/** Records which resources the router recently lacked. */
export class Resources {
  readonly #clock: Clock
  readonly #began: (shortage: Pick<Shortage, 'resource' | 'why'>) => void
  readonly #lacked = new Map<
    string,
    Omit<Shortage, 'since'> & Record<'sinceMs' | 'lastMs', number>
  >()

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
    return [...this.#lacked.values()]
      .filter(({ lastMs }) => lastMs > fromMs)
      .map(({ resource, isStrain, why, sinceMs }) => {
        return { resource, isStrain, why, since: timeOf(sinceMs) }
      })
  }

  /** The router is short of a resource. @param how such as `950 of 1000 are open` */
  strained(resource: Strainable, how: string): void {
    const remedy = { ...remedies, ...otherRemedies }[resource]
    const little = resource === 'files' ? 'few open files' : `little ${names[resource] ?? resource}`
    this.#add(resource, true, `${little} left (${how}): ${remedy}`)
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
    if (kind === errorKinds.overloaded && cause === undefined) this.#lack('buffered-bytes', '')
  }

  /** @param code of the error, such as `EMFILE` */
  #lacks(code: string): void {
    this.#lack(resourceOf[code] ?? 'kernel-memory', ` (${code})`)
  }

  #lack(resource: Resource, code: string): void {
    const name = names[resource] ?? resource
    this.#add(resource, false, `no ${name} left${code}: ${remedies[resource]}`)
  }

  #add(resource: Strainable, isStrain: boolean, why: string): void {
    const lastMs = this.#clock.wallMs()
    const key = `${resource} ${isStrain}`
    const known = this.#lacked.get(key)
    const isNew = (known?.lastMs ?? -Infinity) <= lastMs - recentMs
    if (isNew && !isStrain) this.#began({ resource, why })
    const sinceMs = known && !isNew ? known.sinceMs : lastMs
    this.#lacked.set(key, { resource, isStrain, why, sinceMs, lastMs })
  }
}
