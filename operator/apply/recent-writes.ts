// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../kube/clock.ts'
import { isOlder, type KubeObject } from '../kube/object.ts'

/** A watch delivers a write within a second or two. After this time, the watch takes precedence. */
const countsMs = 10_000

/** Caches our writes until the watch delivers them, so that no reconcile acts on older state. */
export class RecentWrites {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #written = new Map<string, { readonly object: KubeObject; readonly atMs: number }>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /** @param path unique across kinds: see `pathOf` */
  remember(path: string, object: KubeObject): void {
    this.#written.set(path, { object, atMs: this.#clock.nowMs() })
  }

  /** Returns the newer of the watched and the written object. */
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
