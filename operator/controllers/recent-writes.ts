// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../kube/clock.ts'
import { isOlder, type KubeObject } from '../kube/object.ts'

/** A watch brings a write within a second or two. After this time, the watch counts again. */
const countsMs = 10_000

/**
 * Objects as the API server returned them to our own writes, until the watch has brought them: so that a reconcile does not
 * see an old state.
 */
export class RecentWrites {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #written = new Map<string, { readonly object: KubeObject; readonly atMs: number }>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /** @param path unique over all kinds: see `pathOf` */
  remember(path: string, object: KubeObject): void {
    this.#written.set(path, { object, atMs: this.#clock.nowMs() })
  }

  /** The newer of what the watch brought and what we wrote. */
  latest<T extends KubeObject>(path: string, watched: T | undefined): T | null {
    const written = this.#written.get(path)
    if (written === undefined) return watched ?? null
    const { object, atMs } = written
    const isBehind =
      watched === undefined ||
      isOlder(watched.metadata.resourceVersion, object.metadata.resourceVersion)
    if (isBehind && this.#clock.nowMs() - atMs < countsMs) return object as T
    this.#written.delete(path)
    return watched ?? null
  }

  forget(path: string): void {
    this.#written.delete(path)
  }
}
