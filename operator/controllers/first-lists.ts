// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ControllerOptions } from '../kube/controller.ts'
import { refOf } from '../kube/object.ts'

type Reconcile = ControllerOptions['reconcile']
type Enqueue = (key: string) => void

/** A namespace, or null for all of the cluster where that is watched as one. */
export type Scope = string | null

/**
 * Which namespaces have been listed whole. Of others too little is known to act. One that cannot be listed, since it is
 * gone or its Role is, holds up no other.
 */
export class FirstLists {
  readonly #first = Promise.withResolvers<void>()
  /** What came up in scopes that are yet to be listed, and where to put it again. */
  readonly #held: Map<Scope, Map<Enqueue, Set<string>>>
  readonly #isWhole: boolean

  constructor(scopes: readonly Scope[]) {
    this.#isWhole = scopes.includes(null)
    this.#held = new Map(scopes.map((scope) => [scope, new Map<Enqueue, Set<string>>()]))
  }

  /** Resolves when one scope has been listed. */
  get synced(): Promise<void> {
    return this.#first.promise
  }

  /** The scopes that are yet to be listed. */
  get missing(): readonly Scope[] {
    return [...this.#held.keys()]
  }

  /** Takes note that all of a scope has been listed: what came up there has its turn now. */
  listed(scope: Scope): void {
    const held = this.#held.get(scope) ?? []
    this.#held.delete(scope)
    this.#first.resolve()
    for (const [enqueue, keys] of held) for (const key of keys) enqueue(key)
  }

  /** Holds back what is of a scope that was not listed yet. */
  holding(reconcile: Reconcile, enqueue: Enqueue): Reconcile {
    return async (key, context) => {
      const scope = this.#isWhole ? null : (refOf(key).namespace ?? null)
      const held = this.#held.get(scope)
      if (held === undefined) return reconcile(key, context)
      const keys = held.get(enqueue) ?? new Set()
      held.set(enqueue, keys.add(key))
    }
  }
}
