// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ShapeName } from './shapes.ts'
import type { TargetName } from './targets.ts'

/** A figure of a row's first target, as a multiple of the same figure of another target. */
interface Goal {
  readonly figure: 'cpu' | 'p50'
  /** Divisor: this row of another target, or the router's CPU per call in row one. */
  readonly beside: TargetName | 'read'
  readonly most: number
}

/** One row of the benchmark: a load, the targets to load in turns, and the goals of the first. */
export interface Row {
  readonly name: string
  readonly shape: ShapeName
  readonly connections: number
  /** Number of calls per request. */
  readonly calls: number
  readonly targets: readonly [TargetName, ...TargetName[]]
  readonly goals: readonly Goal[]
}

const cpu = (beside: Goal['beside'], most: number): Goal => ({ figure: 'cpu', beside, most })
const proxies = ['router', 'nginx', 'passthrough'] as const
const single = { shape: 'read', connections: 64, calls: 1 } as const
const kept = { ...single, shape: 'kept' } as const

/** Rows of the benchmark. The first is the plain read, which also measures memory under load. */
export const rows: readonly Row[] = [
  { ...single, name: 'read', targets: proxies, goals: [cpu('passthrough', 1.25)] },
  {
    ...{ ...single, name: 'one connection', connections: 1, targets: proxies },
    goals: [{ figure: 'p50', beside: 'passthrough', most: 1.1 }, cpu('passthrough', 1.3)],
  },
  {
    ...{ name: 'batch of 20', shape: 'batch', connections: 16, calls: 20, targets: proxies },
    goals: [cpu('read', 0.3)],
  },
  {
    ...{ ...single, name: '60 KB of logs', shape: 'logs', connections: 16, targets: proxies },
    goals: [cpu('passthrough', 1.7)],
  },
  {
    ...{ ...single, name: '1 MB answer', shape: 'megabyte', connections: 4, targets: proxies },
    goals: [cpu('passthrough', 1.4)],
  },
  {
    ...{ ...kept, name: 'hit', targets: ['caching', 'nginx', 'passthrough', 'bare'] },
    goals: [cpu('nginx', 1), cpu('bare', 1.5)],
  },
  { ...kept, name: 'hit-redis', targets: ['redis', 'nginx', 'bare'], goals: [cpu('bare', 5)] },
  { ...single, name: 'miss', targets: ['caching', 'router'], goals: [cpu('router', 1.05)] },
  { ...single, name: 'traced', targets: ['traced', 'router'], goals: [cpu('router', 1.05)] },
  {
    ...{ ...single, name: 'read with 2 workers', targets: ['workers', 'pair'] },
    goals: [cpu('pair', 1.05)],
  },
  {
    ...{ ...single, name: 'miss with 2 workers', targets: ['caching workers', 'caching pair'] },
    goals: [cpu('caching pair', 1.05)],
  },
  { ...single, name: 'cv3', targets: ['voting', 'router'], goals: [cpu('router', 6)] },
]

/** Limits of the router without other targets. */
export const limits = { firstAnswerMs: 500, npxAnswerMs: 1_500, idleBytes: 110e6, loadBytes: 190e6 }
