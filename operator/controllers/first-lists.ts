// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ControllerOptions } from '../kube/controller.ts'
import { refOf } from '../kube/object.ts'

type Reconcile = ControllerOptions['reconcile']

/** A namespace, or null for all of the cluster where that is watched as one. */
export type Scope = string | null

/** How long until a look at an object of a scope that was not listed yet. */
const againMs = 1_000

/**
 * Which namespaces have been listed whole. Of others too little is known to act. One that cannot be listed, since it is
 * gone or its Role is, holds up no other.
 */
export class FirstLists {
  readonly #first = Promise.withResolvers<void>()
  readonly #missing: Set<Scope>
  readonly #isWhole: boolean

  constructor(scopes: readonly Scope[]) {
    this.#isWhole = scopes.includes(null)
    this.#missing = new Set(scopes)
  }

  /** Resolves when one scope has been listed. */
  get synced(): Promise<void> {
    return this.#first.promise
  }

  /** The scopes that are yet to be listed. */
  get missing(): readonly Scope[] {
    return [...this.#missing]
  }

  /** Takes note that all of a scope has been listed. */
  listed(scope: Scope): void {
    this.#missing.delete(scope)
    this.#first.resolve()
  }

  /** Puts off what is of a scope that was not listed yet. */
  holding(reconcile: Reconcile): Reconcile {
    return async (key, context) => {
      const scope = this.#isWhole ? null : (refOf(key).namespace ?? null)
      return this.#missing.has(scope) ? { requeueAfterMs: againMs } : reconcile(key, context)
    }
  }
}
