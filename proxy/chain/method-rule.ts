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
  readonly #lists: MethodLists
  readonly #iface: Pick<ChainInterface, 'methods' | 'aliases'>
  /** Only of methods in the spec, so that clients cannot exhaust memory. */
  readonly #permissions = new Map<string, Permission>()
  readonly #allows: (method: string) => boolean
  readonly #denies: (method: string) => boolean
  readonly #names: (method: string) => boolean

  constructor(lists: MethodLists, iface: Pick<ChainInterface, 'methods' | 'aliases'>) {
    const { allowed, denied } = lists
    this.#lists = lists
    this.#iface = iface
    this.#allows = matcher(allowed ?? ['*'])
    this.#denies = matcher(denied)
    this.#names = matcher((allowed ?? []).filter((pattern) => pattern !== '*'))
  }

  /** @param method as the spec names it; a pattern may use another of its names */
  of(method: string): Permission {
    const known = this.#permissions.get(method)
    if (known) return known
    const isKnown = this.#iface.methods.has(method)
    const names = namesOf(method, this.#iface)
    const isDenied = names.some(this.#denies)
    const permission = {
      isPermitted: !isDenied && names.some(this.#allows),
      isNamed: !isDenied && names.some(this.#names),
    }
    if (isKnown) this.#permissions.set(method, permission)
    return permission
  }

  /** The list and the pattern that exclude a method. @param owner of the lists */
  reason(method: string, owner: string): string {
    const names = namesOf(method, this.#iface)
    const pattern = this.#lists.denied.find((each) => names.some(matcher([each])))
    return pattern === undefined
      ? `no pattern in \`allowed-methods\` of ${owner} matches it`
      : `\`denied-methods\` of ${owner} has \`${pattern}\``
  }
}

type Names = Pick<ChainInterface, 'methods' | 'aliases'>

/** Whether a pattern matches any method of the interface, by any of its names. */
export function matchesAny(pattern: string, iface: Names): boolean {
  const matches = matcher([pattern])
  return [...iface.methods].some((method) => namesOf(method, iface).some(matches))
}

/** All names of a method; clients choose those that the spec lacks. */
function namesOf(method: string, { methods, aliases }: Names): readonly string[] {
  if (!methods.has(method)) return [method]
  return [method, ...otherNames(method, Object.fromEntries(aliases))]
}
