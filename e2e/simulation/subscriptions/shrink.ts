// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { SubscriptionSchedule } from './schedule.ts'
import { simulateSubscriptions, type Result, type Rule } from './simulation.ts'

/** How many shorter schedules are tried at most. */
const mostTries = 300

/** A list within a schedule, and the schedule with one of its items left out. */
interface Part {
  length(schedule: SubscriptionSchedule): number
  without(schedule: SubscriptionSchedule, at: number): SubscriptionSchedule
}

const drop = <T>(list: readonly T[], at: number) => list.filter((_, index) => index !== at)

const parts: readonly Part[] = [
  {
    length: ({ clients }) => clients.length,
    without: (schedule, at) => ({ ...schedule, clients: drop(schedule.clients, at) }),
  },
  {
    length: ({ nodes }) => nodes.length,
    without: (schedule, at) => ({ ...schedule, nodes: drop(schedule.nodes, at) }),
  },
  {
    length: ({ chain }) => chain.reorgs.length,
    without: (schedule, at) => ({
      ...schedule,
      chain: { ...schedule.chain, reorgs: drop(schedule.chain.reorgs, at) },
    }),
  },
  ailmentsOf(
    ({ forks }) => forks.length,
    (node, at) => ({ ...node, forks: drop(node.forks, at) }),
  ),
  ailmentsOf(
    ({ http }) => http.ailments.length,
    (node, at) => ({ ...node, http: { ...node.http, ailments: drop(node.http.ailments, at) } }),
  ),
  ailmentsOf(
    ({ socket }) => socket?.ailments.length ?? 0,
    (node, at) => ({
      ...node,
      socket: node.socket && { ...node.socket, ailments: drop(node.socket.ailments, at) },
    }),
  ),
]

type Node = SubscriptionSchedule['nodes'][number]

/** The ailments of all nodes as one list. */
function ailmentsOf(
  count: (node: Node) => number,
  without: (node: Node, at: number) => Node,
): Part {
  return {
    length: ({ nodes }) => nodes.reduce((sum, node) => sum + count(node), 0),
    without(schedule, at) {
      let before = 0
      const nodes = schedule.nodes.map((node) => {
        const own = at - before
        before += count(node)
        return own >= 0 && own < count(node) ? without(node, own) : node
      })
      return { ...schedule, nodes }
    },
  }
}

/** Leaves out of a schedule that breaks `rule` whatever can be left out while it still breaks it. */
export async function shrinkSubscriptions(
  schedule: SubscriptionSchedule,
  rule: Rule,
  spec: Spec,
): Promise<{ readonly schedule: SubscriptionSchedule; readonly result: Result }> {
  let shortest = { schedule, result: await simulateSubscriptions(schedule, spec) }
  let tries = 0
  for (let hasShrunk = true; hasShrunk && tries < mostTries;) {
    hasShrunk = false
    for (const part of parts)
      for (let at = part.length(shortest.schedule) - 1; at >= 0 && tries < mostTries; at--) {
        tries += 1
        const candidate = part.without(shortest.schedule, at)
        if (candidate.nodes.length === 0) continue
        const result = await simulateSubscriptions(candidate, spec)
        if (!result.violations.some((each) => each.rule === rule)) continue
        shortest = { schedule: candidate, result }
        hasShrunk = true
      }
  }
  return shortest
}
