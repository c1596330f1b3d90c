// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { otherNames } from './compile/classify.ts'
import { matcher } from './method-patterns.ts'
import type { ChainInterface } from './types.ts'

/** `allowed-methods` and `denied-methods` of an endpoint or an upstream. */
export interface MethodLists {
  /** The only methods that are served; null: all. */
  readonly allowed: readonly string[] | null
  /** Wins over `allowed`. */
  readonly denied: readonly string[]
}

interface Permission {
  readonly isPermitted: boolean
  /** Whether a pattern other than a bare `*` allows it, as a method for operators requires. */
  readonly isNamed: boolean
}

/** Compiled lists. */
export class MethodRule {
  readonly #iface: Pick<ChainInterface, 'methods' | 'aliases'>
  /** Only of methods in the spec, so that clients cannot exhaust memory. */
  readonly #permissions = new Map<string, Permission>()
  readonly #allows: (method: string) => boolean
  readonly #denies: (method: string) => boolean
  readonly #names: (method: string) => boolean

  constructor(
    { allowed, denied }: MethodLists,
    iface: Pick<ChainInterface, 'methods' | 'aliases'>,
  ) {
    this.#iface = iface
    this.#allows = matcher(allowed ?? ['*'])
    this.#denies = matcher(denied)
    this.#names = matcher((allowed ?? []).filter((pattern) => pattern !== '*'))
  }

  /** @param method as the spec names it; a pattern may use another of its names */
  of(method: string): Permission {
    const known = this.#permissions.get(method)
    if (known) return known
    const { methods, aliases } = this.#iface
    const isKnown = methods.has(method)
    const names = isKnown ? [method, ...otherNames(method, Object.fromEntries(aliases))] : [method]
    const isDenied = names.some(this.#denies)
    const permission = {
      isPermitted: !isDenied && names.some(this.#allows),
      isNamed: !isDenied && names.some(this.#names),
    }
    if (isKnown) this.#permissions.set(method, permission)
    return permission
  }
}
