// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../kube/client.ts'
import { type Clock, sleep } from '../kube/clock.ts'
import { isUnknownKind, KubeError } from '../kube/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import type { KubeObserver } from '../kube/observer.ts'
import { type Reflector, synced } from '../kube/reflector.ts'
import type { Resource } from '../kube/resource.ts'

export interface OptionalKindsOptions {
  readonly client: Pick<KubeClient, 'serves'>
  readonly clock: Clock
  readonly observer: KubeObserver
  readonly kinds: readonly Resource[]
  /** Those that the cluster knows at first, by their kind. Kept up to date. */
  readonly known: Set<string>
  /** Whether any object asks for the kind: it is not looked for otherwise. */
  readonly isWanted: (kind: Resource) => boolean
  /** What watches a kind that the cluster knows. */
  readonly reflect: (kind: Resource, observer: KubeObserver) => readonly Reflector<KubeObject>[]
  /** Told when a kind has come, or has gone. */
  readonly onChange: (kind: Resource, isKnown: boolean) => void
}

/** How long until a kind that is wanted and was not there is looked for again. */
const lookAgainMs = 60_000

/** A kind that is watched, until the cluster does not know it any more. */
interface Watched {
  readonly reflectors: readonly Reflector<KubeObject>[]
  readonly gone: AbortController
}

/** Kinds that may be installed or removed while the operator runs, such as those of the Prometheus operator. */
export class OptionalKinds {
  readonly #options: OptionalKindsOptions
  readonly #watched = new Map<Resource, Watched>()

  constructor(options: OptionalKindsOptions) {
    this.#options = options
    for (const kind of options.kinds) if (options.known.has(kind.kind)) this.#start(kind)
  }

  /** What watches those that are known. */
  get reflectors(): readonly Reflector<KubeObject>[] {
    return [...this.#watched]
      .filter(([{ kind }]) => this.#options.known.has(kind))
      .flatMap(([, { reflectors }]) => reflectors)
  }

  /**
   * Resolves when those that are known have been listed in a namespace, or are gone.
   *
   * @param scope null for the whole cluster
   */
  async synced(scope: string | null, signal: AbortSignal): Promise<void> {
    await Promise.all(
      [...this.#watched.values()].map(({ reflectors, gone }) => {
        const there = reflectors.filter(({ namespace }) => namespace === scope)
        return synced(there, AbortSignal.any([signal, gone.signal]))
      }),
    )
  }

  /** Watches those that are there, and looks for the others, until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.kinds.map((kind) => this.#follow(kind, signal)))
  }

  /** Takes note that the cluster does not know a kind any more. */
  lost(kind: Resource): void {
    const { known, onChange } = this.#options
    this.#watched.get(kind)?.gone.abort()
    if (known.delete(kind.kind)) onChange(kind, false)
  }

  async #follow(kind: Resource, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    while (!signal.aborted) {
      const watched = this.#watched.get(kind)
      if (watched !== undefined) {
        await this.#watch(kind, watched, AbortSignal.any([signal, watched.gone.signal]))
        this.#watched.delete(kind)
      }
      await sleep(clock, lookAgainMs, signal).catch(() => {})
      if (!signal.aborted && (await this.#isServed(kind, signal))) this.#start(kind)
    }
  }

  async #watch(kind: Resource, { reflectors }: Watched, signal: AbortSignal): Promise<void> {
    const { known, onChange } = this.#options
    const running = Promise.all(reflectors.map((reflector) => reflector.run(signal)))
    // One list is enough to know. What lies where the others are under way is found when it is applied.
    const first = Promise.race(reflectors.map((reflector) => reflector.synced))
    await synced([{ synced: first }], signal)
    if (!signal.aborted && !known.has(kind.kind)) {
      known.add(kind.kind)
      onChange(kind, true)
    }
    await running
  }

  #start(kind: Resource): void {
    const { reflect, observer } = this.#options
    const reflectors = reflect(kind, {
      ...observer,
      reflectFailed: (plural, verb, error, retryMs) => {
        if (isUnknownKind(error)) this.lost(kind)
        else observer.reflectFailed?.(plural, verb, error, retryMs)
      },
    })
    this.#watched.set(kind, { reflectors, gone: new AbortController() })
  }

  async #isServed(kind: Resource, signal: AbortSignal): Promise<boolean> {
    const { client, isWanted, observer } = this.#options
    if (!isWanted(kind)) return false
    try {
      return await client.serves(kind, signal)
    } catch (error) {
      if (!(error instanceof KubeError)) throw error
      if (!signal.aborted) observer.reflectFailed?.(kind.plural, 'list', error, lookAgainMs)
      return false
    }
  }
}
