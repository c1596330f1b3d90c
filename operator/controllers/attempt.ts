// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ApiError, isNamespaceTerminating } from '../kube/errors.ts'
import { sentences } from '../status/condition-set.ts'
import type { Applied } from '../status/router-status.ts'
import {
  FieldsContestedError,
  ForeignFieldsError,
  NameConflictError,
  StillThereError,
} from './errors.ts'

/** How an attempt at the objects of a router ended. */
export interface Attempt {
  readonly applied: Applied
  /** The failure that is to be tried again, if there was one. */
  readonly error: ApiError | null
  /** When to look again though nothing changes; null for never. */
  readonly againMs: number | null
}

interface Trouble {
  readonly result: 'conflict' | 'waiting' | 'contested' | 'refused'
  readonly error: Error
  readonly againMs: number | null
}

/** How long until a look whether the garbage collector, or another writer, is done. Its deletions may be of objects no watch told of. */
const stillThereMs = 1_000

/** What of an attempt did not go well: one object that is refused is no reason to leave the others. */
export class Troubles {
  readonly #all: Trouble[] = []

  /**
   * @returns whether it went well
   * @throws what is of the way to the API server, and not of the objects
   */
  async during(act: () => Promise<void> | void): Promise<boolean> {
    try {
      await act()
      return true
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble === null) throw error
      this.#all.push(trouble)
      return false
    }
  }

  /** @param isHeld whether something was not tried because of them */
  attempt(isHeld: boolean): Attempt {
    const [first] = this.#all
    if (first === undefined) return { applied: { result: 'applied' }, error: null, againMs: null }
    const errors = this.#all.map(({ error }) => error)
    const texts = errors.map(({ message }) => message)
    const refusals = errors.filter((error) => error instanceof ApiError)
    if (!isHeld && refusals.length === errors.length) texts.push('All else is applied.')
    const againMs = Math.min(...this.#all.map((trouble) => trouble.againMs ?? Infinity))
    return {
      applied: {
        result: first.result,
        message: texts.length === 1 ? first.error.message : sentences(texts),
      },
      error: refusals[0] ?? null,
      againMs: againMs === Infinity ? null : againMs,
    }
  }
}

function troubleOf(error: unknown): Trouble | null {
  if (error instanceof NameConflictError) return { result: 'conflict', error, againMs: null }
  if (error instanceof StillThereError) return { result: 'waiting', error, againMs: stillThereMs }
  if (error instanceof ForeignFieldsError)
    return { result: 'contested', error, againMs: stillThereMs }
  if (error instanceof FieldsContestedError)
    return { result: 'contested', error, againMs: error.leftMs }
  const isRefusal = error instanceof ApiError && !isNamespaceTerminating(error)
  return isRefusal ? { result: 'refused', error, againMs: null } : null
}
