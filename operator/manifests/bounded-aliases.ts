// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Alias, isAlias, isCollection, isNode, isPair, type Node } from 'yaml'

/** What makes a document unreadable, and where: an offset into its text. */
export interface DocumentFault {
  readonly message: string
  readonly offset: number
}

/** Each alias costs the parser a look at all the others. */
const mostAliases = 1_000
/** Values that aliases stand for, all together. */
const mostRepeated = 100_000
/** Deeper than anything that Kubernetes knows, and less than what any reader can follow. */
const mostLevels = 256

/** Looks through a document before it is expanded: a few lines of aliases can stand for billions of values. */
export function aliasFault(contents: unknown): DocumentFault | null {
  const walk = new AliasWalk()
  walk.measure(contents, 0)
  return walk.fault
}

/** What a node comes to with its aliases expanded. */
interface Extent {
  readonly values: number
  /** How deep values stand in it; 0 for a scalar. */
  readonly levels: number
}

const nothing: Extent = { values: 0, levels: 0 }

class AliasWalk {
  /** The first that was found. */
  fault: DocumentFault | null = null
  /** Of what each anchor names; null while the walk is inside of it. */
  readonly #named = new Map<string, Extent | null>()
  #aliases = 0
  #repeated = 0

  /** @param depth how deep the node stands itself */
  measure(node: unknown, depth: number): Extent {
    if (this.fault !== null) return nothing
    if (isPair(node))
      return joined([this.measure(node.key, depth), this.measure(node.value, depth)])
    if (!isNode(node)) return nothing
    if (isAlias(node)) return this.#measureAlias(node, depth)
    if (depth > mostLevels) return this.#fail(node, 'is nested too deeply')
    const { anchor } = node
    if (anchor !== undefined) this.#named.set(anchor, null)
    const items = isCollection(node) ? node.items : []
    const within = joined(items.map((item) => this.measure(item, depth + 1)))
    const extent = { values: within.values + 1, levels: items.length > 0 ? within.levels + 1 : 0 }
    if (anchor !== undefined) this.#named.set(anchor, extent)
    return extent
  }

  #measureAlias(alias: Alias, depth: number): Extent {
    const extent = this.#named.get(alias.source)
    // Its name is not told: it may be a password that nobody put in quotes.
    if (extent === undefined)
      return this.#fail(alias, 'an alias (*) has no anchor before it; a text needs quotes')
    if (extent === null)
      return this.#fail(alias, 'an alias (*) stands inside of what its anchor names')
    this.#aliases += 1
    this.#repeated += extent.values
    if (this.#aliases > mostAliases)
      return this.#fail(alias, `there are more than ${mostAliases} aliases`)
    if (this.#repeated > mostRepeated)
      return this.#fail(alias, `the aliases repeat more than ${mostRepeated} values`)
    if (depth + extent.levels > mostLevels) return this.#fail(alias, 'is nested too deeply')
    return extent
  }

  #fail({ range }: Node, message: string): Extent {
    this.fault = { message, offset: range?.[0] ?? 0 }
    return nothing
  }
}

function joined(extents: readonly Extent[]): Extent {
  return extents.reduce(
    (all, { values, levels }) => ({
      values: all.values + values,
      levels: Math.max(all.levels, levels),
    }),
    nothing,
  )
}
