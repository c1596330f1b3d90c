// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeClient } from '../kube/client.ts'
import { type Clock, sleep } from '../kube/clock.ts'
import { KubeError } from '../kube/errors.ts'
import type { KubeObserver } from '../kube/observer.ts'
import type { Resource } from '../kube/resource.ts'

export interface LateKindsOptions {
  readonly client: Pick<KubeClient, 'serves'>
  readonly clock: Clock
  readonly observer: KubeObserver
  /** Those that the cluster did not know so far. */
  readonly kinds: readonly Resource[]
  /** Whether any object asks for the kind: it is not looked for otherwise. */
  readonly isWanted: (kind: Resource) => boolean
  /** Takes a kind in that the cluster knows from now on, until the signal is aborted. */
  readonly take: (kind: Resource, signal: AbortSignal) => Promise<void>
}

/** How long until a kind that is wanted and was not there is looked for again. */
const lookAgainMs = 60_000

/** Kinds that may be installed while the operator runs, such as those of the Prometheus operator. */
export class LateKinds {
  readonly #options: LateKindsOptions

  constructor(options: LateKindsOptions) {
    this.#options = options
  }

  /** Looks for them until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#options.kinds.map((kind) => this.#await(kind, signal)))
  }

  async #await(kind: Resource, signal: AbortSignal): Promise<void> {
    const { clock, take } = this.#options
    do {
      await sleep(clock, lookAgainMs, signal).catch(() => {})
      if (signal.aborted) return
    } while (!(await this.#isServed(kind, signal)))
    await take(kind, signal)
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
