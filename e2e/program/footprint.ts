// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'

/** Resources of a process. */
export interface Footprint {
  readonly residentBytes: number
  /** Peak resident memory. */
  readonly peakBytes: number
  /** Number of open files and sockets. */
  readonly openFiles: number
}

/** Reads the resources of a process. Linux only. */
export function footprintOf(pid: number): Footprint {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024
  return {
    residentBytes: bytes('VmRSS'),
    peakBytes: bytes('VmHWM'),
    openFiles: readdirSync(`/proc/${pid}/fd`).length,
  }
}
