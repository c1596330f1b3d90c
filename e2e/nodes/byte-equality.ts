// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A raw answer on any interface. */
export interface WireAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Messages of a stream, or the body. */
  readonly bodies: readonly Buffer[]
  readonly trailers: Readonly<Record<string, string>>
}

/** A request for any target: the node, or the router in front of it. */
export interface WireCall<Target> {
  readonly label: string
  send(target: Target): Promise<WireAnswer>
}

/** The two targets of a call: the node, and the router in front of it. */
export interface BothWays<Target> {
  readonly node: Target
  readonly router: Target
}

/** The result of a comparison. */
export interface Equality {
  /** Number of calls with equal answers. */
  readonly equal: number
  /** Summaries of the differences. */
  readonly differences: readonly string[]
  /** Calls with volatile answers of the node itself. */
  readonly restless: readonly string[]
}

/** Number of comparisons of a call if the node's own answer changes in the meantime. */
const tries = 3

/** Headers about the connection or the time. */
const ofTheHop = [
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'trailer',
  'transfer-encoding',
  'vary',
]
/** Headers for browsers, which are a matter of the edge in front of the router. */
const ofTheEdge = ['access-control-allow-origin']
/** Headers that the router adds. */
const ofTheRouter = /^(?:rpc-|router-(?:version|upstream)$|provider-latest-block$)/

export interface EqualityOptions {
  /** Headers and trailers of the node that the router does not forward. */
  readonly withheld?: readonly string[]
}

/**
 * Sends each call to the node and to the router, and compares the answers. After a difference it
 * queries the node several times. If the node's own answers differ, it repeats the comparison.
 */
export async function compare<Target>(
  calls: readonly WireCall<Target>[],
  { node, router }: BothWays<Target>,
  { withheld = [] }: EqualityOptions = {},
): Promise<Equality> {
  const unlike = new Set([...ofTheHop, ...ofTheEdge, ...withheld])
  const outcome = { equal: 0, differences: [] as string[], restless: [] as string[] }
  for (const call of calls) {
    const found = await compareOne(call, node, router, unlike)
    if (found === null) outcome.equal++
    else outcome[found.kind].push(`${call.label}${found.words}`)
  }
  return outcome
}

interface Finding {
  readonly kind: 'differences' | 'restless'
  readonly words: string
}

async function compareOne<Target>(
  call: WireCall<Target>,
  node: Target,
  router: Target,
  unlike: ReadonlySet<string>,
): Promise<Finding | null> {
  const ask = async (target: Target) => written(await call.send(target), unlike)
  for (let at = 0; at < tries; at++) {
    const before = await ask(node)
    const routed = await ask(router)
    if (before === routed) return null
    const after = await Promise.all(Array.from({ length: tries }, () => ask(node)))
    if (after.every((answer) => answer === before))
      return { kind: 'differences', words: firstDifference(before, routed) }
  }
  return { kind: 'restless', words: '' }
}

/** The parts of an answer that must be equal, as a text. */
function written(
  { status, headers, bodies, trailers }: WireAnswer,
  unlike: ReadonlySet<string>,
): string {
  const kept = [headers, trailers].map((fields) =>
    Object.entries(fields)
      .filter(([name]) => !unlike.has(name) && !ofTheRouter.test(name))
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  )
  return JSON.stringify([status, ...kept, bodies.map((body) => body.toString('latin1'))])
}

function firstDifference(node: string, router: string): string {
  let at = 0
  while (node[at] === router[at]) at++
  const around = (text: string) => text.slice(Math.max(0, at - 80), at + 80)
  return `\n    node   ...${around(node)}\n    router ...${around(router)}`
}
