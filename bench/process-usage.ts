// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'

/** Linux counts CPU time in hundredths of a second on every architecture that Node supports. */
const ticksPerSecond = 100

/** Resource usage of a process and its descendants. */
export interface Usage {
  readonly cpuSeconds: number
  /** Sum of the peak resident sizes of the processes. */
  readonly peakBytes: number
  /** Sum of the current resident sizes. */
  readonly residentBytes: number
}

/** Reads CPU time and memory of the tree under `pid` from /proc. Linux only. */
export function usageOf(pid: number): Usage {
  if (process.platform !== 'linux')
    throw new Error('CPU time and memory are read from /proc: run the benchmark on Linux')
  const sum = { cpuSeconds: 0, peakBytes: 0, residentBytes: 0 }
  for (const member of treeOf(pid)) {
    const { userTicks = 0, systemTicks = 0 } = statOf(member) ?? {}
    const status = readFileSync(`/proc/${member}/status`, 'latin1')
    sum.cpuSeconds += (userTicks + systemTicks) / ticksPerSecond
    sum.peakBytes += kibibytes(status, 'VmHWM') * 1024
    sum.residentBytes += kibibytes(status, 'VmRSS') * 1024
  }
  return sum
}

/** CPU time of `pid` and its descendants, by process name. */
export function cpuSecondsByName(pid: number): ReadonlyMap<string, number> {
  const stats = treeOf(pid).map(statOf)
  const byName = new Map<string, number>()
  for (const { name, userTicks, systemTicks } of stats.filter((stat) => stat !== null))
    byName.set(name, (byName.get(name) ?? 0) + (userTicks + systemTicks) / ticksPerSecond)
  return byName
}

function treeOf(root: number): number[] {
  const parents = new Map<number, number>()
  for (const entry of readdirSync('/proc')) {
    const pid = Number(entry)
    const stat = Number.isInteger(pid) ? statOf(pid) : null
    if (stat !== null) parents.set(pid, stat.parent)
  }
  const tree = [root]
  for (const member of tree)
    for (const [pid, parent] of parents) if (parent === member) tree.push(pid)
  return tree
}

/** Null when the process has ended. */
function statOf(pid: number): Stat | null {
  try {
    return readStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null
    throw error
  }
}

interface Stat {
  /** First 15 bytes of the process name. */
  readonly name: string
  readonly parent: number
  readonly userTicks: number
  readonly systemTicks: number
}

/** Parses /proc/pid/stat. The process name may contain any text. */
export function readStat(line: string): Stat {
  const nameEnd = line.lastIndexOf(')')
  const fields = line.slice(nameEnd + 2).split(' ')
  return {
    name: line.slice(line.indexOf('(') + 1, nameEnd),
    parent: Number(fields[1]),
    userTicks: Number(fields[11]),
    systemTicks: Number(fields[12]),
  }
}

function kibibytes(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
}
