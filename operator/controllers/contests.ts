// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../kube/clock.ts'
import type { Contenders } from './foreign-fields.ts'

/** A person sets something once, and once more when it did not last; a controller goes on, mostly every 15 s. */
const leastTimes = 3
const withinMs = 300_000

interface PutBack {
  readonly atMs: number
  readonly by: Contenders
}

interface History {
  /** Of the router: who changes its spec may have settled the matter. */
  readonly generation: number | undefined
  /** The last few, in their order. */
  readonly putBack: readonly PutBack[]
}

/** Somebody goes on setting what the operator puts back each time. */
export interface Contest {
  readonly by: Contenders
  /** How long it stands when nothing more is put back. */
  readonly leftMs: number
}

/**
 * How often what others had set was put back of late, object by object. Each time all is right at once, so that nothing
 * that can be looked at later tells whether it was once or goes on.
 */
export class Contests {
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #histories = new Map<string, History>()

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock
  }

  /** @param generation of the router */
  putBack(path: string, generation: number | undefined, by: Contenders): void {
    const before = this.#of(path, generation)
    const putBack = [...before, { atMs: this.#clock.nowMs(), by }].slice(-leastTimes)
    this.#histories.set(path, { generation, putBack })
  }

  /** The contest about an object; null when there is none. */
  of(path: string, generation: number | undefined): Contest | null {
    const recent = this.#of(path, generation)
    const [first] = recent
    const last = recent.at(-1)
    if (first === undefined || last === undefined || recent.length < leastTimes) return null
    return { by: last.by, leftMs: first.atMs + withinMs - this.#clock.nowMs() }
  }

  forget(path: string): void {
    this.#histories.delete(path)
  }

  #of(path: string, generation: number | undefined): readonly PutBack[] {
    const history = this.#histories.get(path)
    if (history === undefined || history.generation !== generation) return []
    const sinceMs = this.#clock.nowMs() - withinMs
    return history.putBack.filter(({ atMs }) => atMs > sinceMs)
  }
}
