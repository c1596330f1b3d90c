// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Rule } from './arena.ts'
import type { Spec } from './engine.ts'
import type { Schedule } from './schedule.ts'
import { simulate, type Result } from './simulation.ts'

/** How many shorter schedules are tried at most. */
const mostTries = 400

/**
 * Leaves out of a schedule that breaks `rule` whatever can be left out while it still breaks it:
 * requests, upstreams, URLs, ailments, and what happens to the chain.
 */
export async function shrink(
  schedule: Schedule,
  rule: Rule,
  spec: Spec,
): Promise<{ readonly schedule: Schedule; readonly result: Result }> {
  let tries = 0
  let shortest = { schedule, result: await simulate(schedule, spec) }
  const accept = async (candidate: Schedule): Promise<boolean> => {
    if (tries++ >= mostTries) return false
    const result = await simulate(candidate, spec)
    if (!result.violations.some((each) => each.rule === rule)) return false
    shortest = { schedule: candidate, result }
    return true
  }
  for (let before = Infinity; sizeOf(shortest.schedule) < before && tries < mostTries;) {
    before = sizeOf(shortest.schedule)
    for (const part of parts) await without(part, () => shortest.schedule, accept)
  }
  return shortest
}

/** A list within a schedule, and the schedule with another list in its place. */
interface Part {
  of(schedule: Schedule): readonly (readonly unknown[])[]
  with(schedule: Schedule, at: number, list: readonly unknown[]): Schedule
}

const parts: readonly Part[] = [
  {
    of: ({ requests }) => [requests],
    with: (schedule, _at, list) => ({ ...schedule, requests: list as Schedule['requests'] }),
  },
  {
    of: ({ nodes }) => [nodes],
    with: (schedule, _at, list) => ({ ...schedule, nodes: list as Schedule['nodes'] }),
  },
  {
    of: ({ nodes }) => nodes.map(({ urls }) => urls),
    with: (schedule, at, list) => ({
      ...schedule,
      nodes: schedule.nodes.map((node, index) =>
        index === at && list.length > 0 ? { ...node, urls: list as typeof node.urls } : node,
      ),
    }),
  },
  {
    of: ({ nodes }) => nodes.flatMap(({ urls }) => urls.map(({ ailments }) => ailments)),
    with(schedule, at, list) {
      let index = 0
      const nodes = schedule.nodes.map((node) => ({
        ...node,
        urls: node.urls.map((url) =>
          index++ === at ? { ...url, ailments: list as typeof url.ailments } : url,
        ),
      }))
      return { ...schedule, nodes }
    },
  },
  {
    of: ({ chain }) => [chain.reorgs],
    with: (schedule, _at, list) => ({
      ...schedule,
      chain: { ...schedule.chain, reorgs: list as Schedule['chain']['reorgs'] },
    }),
  },
]

/** Takes chunks out of each list of a part, halves first, then smaller ones. */
async function without(
  part: Part,
  current: () => Schedule,
  accept: (candidate: Schedule) => Promise<boolean>,
): Promise<void> {
  for (let at = 0; at < part.of(current()).length; at++) {
    const length = () => part.of(current())[at]?.length ?? 0
    for (let size = Math.ceil(length() / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
      for (let from = 0; from < length();) {
        const list = part.of(current())[at] ?? []
        const shorter = [...list.slice(0, from), ...list.slice(from + size)]
        if (!(await accept(part.with(current(), at, shorter)))) from += size
      }
  }
}

function sizeOf({ nodes, requests, chain }: Schedule): number {
  const urls = nodes.flatMap((node) => node.urls)
  const ailments = urls.flatMap((url) => url.ailments)
  return nodes.length + urls.length + ailments.length + requests.length + chain.reorgs.length
}
