// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setFlagsFromString } from 'node:v8'
import { garbageCollector } from './garbage-collector.ts'

/**
 * Keeps V8's young generation small while the program starts: loading code and specs makes some
 * 150 MB of garbage, and a young generation that grew for it would keep 30 MB for good.
 */
export function holdStartupMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Gives back what starting has used, once, and lets the young generation grow for traffic. */
export function releaseStartupMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
  garbageCollector()({ type: 'major', flavor: 'last-resort' })
}
