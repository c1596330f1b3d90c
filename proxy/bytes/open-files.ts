// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { fileLimits } from './limits.ts'

/*
 * A process that runs out of file descriptors can neither reach nodes nor show what is wrong. So
 * clients leave some to nodes, and both leave some to the admin address and the stores.
 */

const isLinux = process.platform === 'linux'
/** Limit of open files. Read at the start, since reading opens one. Null if unknown. */
export const maxFiles = readMaxFiles()

/** Null on other systems than Linux, and in sandboxes that hide the file. */
function readMaxFiles(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    const soft = /^Max open files +(\d+)/m.exec(limits)?.[1]
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** Reads a value, which may open a file. @param atLimit the value if none is left */
export function readAt(read: () => number | null, atLimit: number | null = null): number | null {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EMFILE') return atLimit
    throw error
  }
}

/** Number of open files; null if unknown. */
export const openFiles = () =>
  readAt(() => (isLinux ? readdirSync('/proc/self/fd').length : null), maxFiles)

const { share, most, nodes } = fileLimits
let reserved: number | null = null
let takenByNodes = 0

/** Files that clients leave to others. Counted once, after the process has loaded its code. */
function reserve(): number {
  if (maxFiles === null) return Infinity
  return (reserved ??= Math.min((maxFiles - (openFiles() ?? 0)) * share, most))
}

/** Number of files that clients may take; null if unknown. */
export const clientFiles = () => maxFiles && Math.floor(maxFiles - reserve())

/** Whether a client may keep its connection. The kernel assigns the lowest free file number. */
export function isForClients(socket: Socket): boolean {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } | null }
  return (handle?.fd ?? -1) < (clientFiles() ?? Infinity)
}

/**
 * Takes a file for a connection to a node.
 * @returns a function that frees it; null if nodes have taken their share
 */
export function takeFile(): (() => void) | null {
  if (takenByNodes >= reserve() * nodes) return null
  takenByNodes += 1
  return () => {
    takenByNodes -= 1
  }
}
