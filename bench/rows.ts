// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ShapeName } from './shapes.ts'
import type { TargetName } from './targets.ts'

/** One row of the benchmark: a load, the figure that is compared, and its limit. */
export interface Row {
  readonly name: string
  readonly shape: ShapeName
  readonly connections: number
  /** Number of calls per request. */
  readonly calls: number
  /** Targets to load in turns. The limit applies to the first. */
  readonly targets: readonly [TargetName, ...TargetName[]]
  readonly figure: 'cpu' | 'p50'
  /** Divisor of the figure: this row of another target, or the router's CPU per call in row one. */
  readonly beside: TargetName | 'read'
  readonly most: number
}

const ofNginx = { targets: ['router', 'nginx', 'passthrough'], beside: 'nginx' } as const
const besideBare = { connections: 64, calls: 1, figure: 'cpu', beside: 'bare' } as const
const besideRouter = { ...besideBare, shape: 'read', beside: 'router' } as const

/** Rows of the benchmark. The first is the plain read, which also measures memory under load. */
export const rows: readonly Row[] = [
  {
    ...{ name: 'read', shape: 'read', connections: 64, calls: 1 },
    ...{ ...ofNginx, figure: 'cpu', most: 2.5 },
  },
  {
    ...{ name: 'one connection', shape: 'read', connections: 1, calls: 1 },
    ...{ ...ofNginx, figure: 'p50', most: 1.5 },
  },
  {
    ...{ name: 'batch of 20', shape: 'batch', connections: 16, calls: 20 },
    ...{ ...ofNginx, figure: 'cpu', beside: 'read', most: 0.45 },
  },
  {
    ...{ name: '60 KB of logs', shape: 'logs', connections: 16, calls: 1 },
    ...{ ...ofNginx, figure: 'cpu', most: 4 },
  },
  {
    ...{ name: '1 MB answer', shape: 'megabyte', connections: 4, calls: 1 },
    ...{ ...ofNginx, figure: 'cpu', most: 2.8 },
  },
  { ...besideBare, name: 'hit', shape: 'kept', targets: ['caching', 'bare'], most: 1.5 },
  { ...besideBare, name: 'hit-redis', shape: 'kept', targets: ['redis', 'bare'], most: 5 },
  { ...besideRouter, name: 'miss', targets: ['caching', 'router'], most: 1.05 },
  { ...besideRouter, name: 'traced', targets: ['traced', 'router'], most: 1.05 },
  { ...besideRouter, name: 'cv3', targets: ['voting', 'router'], most: 6 },
]

/** Limits of the router without other targets. */
export const limits = { firstAnswerMs: 500, npxAnswerMs: 2_000, idleBytes: 110e6, loadBytes: 200e6 }
