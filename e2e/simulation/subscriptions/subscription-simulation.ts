// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { placeOf, type Place, type Simulation } from '../runner/types.ts'
import { addCounts, type Counts } from '../tally.ts'
import { drawSubscriptionSchedule } from './draw-schedule.ts'
import type { SubscriptionNodePlan, SubscriptionSchedule } from './schedule.ts'
import { simulateSubscriptions, type Rule } from './simulation.ts'

/** The subscriptions of clients over misbehaving nodes. */
export const subscriptionSimulation: Simulation<SubscriptionSchedule, Rule, Counts> = {
  draw: drawSubscriptionSchedule,
  run: simulateSubscriptions,
  emptyTally: () => ({}),
  addTally: addCounts,
  parts: [
    (schedule) => [placeOf(schedule.clients, (clients) => ({ ...schedule, clients }))],
    (schedule) => [
      placeOf(schedule.nodes, (nodes) => (nodes.length === 0 ? null : { ...schedule, nodes })),
    ],
    (schedule) => [
      placeOf(schedule.chain.reorgs, (reorgs) => ({
        ...schedule,
        chain: { ...schedule.chain, reorgs },
      })),
    ],
    inEachNode((node, put) => placeOf(node.forks, (forks) => put({ ...node, forks }))),
    inEachNode((node, put) =>
      placeOf(node.http.ailments, (ailments) => put({ ...node, http: { ...node.http, ailments } })),
    ),
    inEachNode((node, put) =>
      placeOf(node.socket?.ailments ?? [], (ailments) =>
        put({ ...node, socket: node.socket && { ...node.socket, ailments } }),
      ),
    ),
  ],
}

function inEachNode(
  placeIn: (
    node: SubscriptionNodePlan,
    put: (other: SubscriptionNodePlan) => SubscriptionSchedule,
  ) => Place<SubscriptionSchedule>,
) {
  return (schedule: SubscriptionSchedule) =>
    schedule.nodes.map((node, at) =>
      placeIn(node, (other) => ({ ...schedule, nodes: schedule.nodes.with(at, other) })),
    )
}
