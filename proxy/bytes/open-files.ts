// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { fileLimits } from './limits.ts'

/*
 * Without a file left, a process can neither connect to nodes nor show what is wrong. Clients and
 * nodes therefore each leave some to the others, and both to the admin address and the stores.
 */

const isLinux = process.platform === 'linux'
/** Limit of open files. Read at the start, since reading opens one. Null if unknown. */
export const maxFiles = readMaxFiles()

/** Null elsewhere than on Linux, and in a sandbox without the file. */
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

/** Files that clients leave. Counted once, when the process listens and has loaded its code. */
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
 * @returns frees it; null if the rest is for others
 */
export function takeFile(): (() => void) | null {
  if (takenByNodes >= reserve() * nodes) return null
  takenByNodes += 1
  return () => {
    takenByNodes -= 1
  }
}
