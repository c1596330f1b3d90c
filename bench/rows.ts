// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ShapeName } from './shapes.ts'

/** One row of the benchmark: a load, the figure that is compared, and its limit. */
export interface Row {
  readonly name: string
  readonly shape: ShapeName
  readonly connections: number
  /** Calls in a request. */
  readonly calls: number
  readonly figure: 'cpu' | 'p50'
  /** The divisor of the figure: the same row of nginx, or CPU per call in the router's first row. */
  readonly beside: 'nginx' | 'read'
  readonly most: number
}

/** The first is the plain read, which also measures the memory under load. */
export const rows: readonly Row[] = [
  {
    ...{ name: 'read', shape: 'read', connections: 64, calls: 1 },
    ...{ figure: 'cpu', beside: 'nginx', most: 2.5 },
  },
  {
    ...{ name: 'one connection', shape: 'read', connections: 1, calls: 1 },
    ...{ figure: 'p50', beside: 'nginx', most: 1.5 },
  },
  {
    ...{ name: 'batch of 20', shape: 'batch', connections: 16, calls: 20 },
    ...{ figure: 'cpu', beside: 'read', most: 0.45 },
  },
  {
    ...{ name: '60 KB of logs', shape: 'logs', connections: 16, calls: 1 },
    ...{ figure: 'cpu', beside: 'nginx', most: 4 },
  },
  {
    ...{ name: '1 MB answer', shape: 'megabyte', connections: 4, calls: 1 },
    ...{ figure: 'cpu', beside: 'nginx', most: 2.8 },
  },
]

/** Limits of the router alone. */
export const limits = { firstAnswerMs: 500, npxAnswerMs: 2_000, idleBytes: 110e6, loadBytes: 200e6 }
