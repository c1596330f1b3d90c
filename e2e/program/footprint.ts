// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'

/** Resources of a process. */
export interface Footprint {
  readonly residentBytes: number
  /** Files and sockets. */
  readonly openFiles: number
}

/** Reads the resources of a process. Linux only. */
export function footprintOf(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const residentKiB = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
  return { residentBytes: residentKiB * 1024, openFiles: readdirSync(`/proc/${pid}/fd`).length }
}
