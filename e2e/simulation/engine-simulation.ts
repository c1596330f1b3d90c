// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Rule } from './arena.ts'
import { drawSchedule } from './draw-schedule.ts'
import { placeOf, type Simulation } from './runner/types.ts'
import type { NodePlan, Schedule } from './schedule.ts'
import { simulate } from './simulation.ts'
import { addTally, emptyTally, type Tally } from './tally.ts'

/** The engine against misbehaving nodes. */
export const engineSimulation: Simulation<Schedule, Rule, Tally> = {
  draw: drawSchedule,
  run: simulate,
  emptyTally,
  addTally,
  parts: [
    (schedule) => [placeOf(schedule.requests, (requests) => ({ ...schedule, requests }))],
    (schedule) => [placeOf(schedule.nodes, (nodes) => ({ ...schedule, nodes }))],
    (schedule) =>
      schedule.nodes.map((node, at) =>
        placeOf(node.urls, (urls) =>
          urls.length === 0 ? null : withNode(schedule, at, { ...node, urls }),
        ),
      ),
    (schedule) =>
      schedule.nodes.flatMap((node, at) =>
        node.urls.map((url, urlAt) =>
          placeOf(url.ailments, (ailments) => {
            const urls = node.urls.with(urlAt, { ...url, ailments })
            return withNode(schedule, at, { ...node, urls })
          }),
        ),
      ),
    (schedule) => [
      placeOf(schedule.chain.reorgs, (reorgs) => ({
        ...schedule,
        chain: { ...schedule.chain, reorgs },
      })),
    ],
  ],
}

function withNode(schedule: Schedule, at: number, node: NodePlan): Schedule {
  return { ...schedule, nodes: schedule.nodes.with(at, node) }
}
