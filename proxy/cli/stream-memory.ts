// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { garbageCollector } from './garbage-collector.ts'

/** What may pass between two collections; each takes a small part of the time that this much takes. */
const bytesPerCollection = 8 * 1024 * 1024

/**
 * Keeps memory small while big answers pass. Each chunk of one is a small object on V8's heap with
 * its bytes outside of it, and V8 lets tens of megabytes of dead ones stay; collecting the young
 * generation now and then frees them, and costs less than what it saves.
 * @returns to be told of bytes that have passed
 */
export function createStreamMemory(): (bytes: number) => void {
  const collect = garbageCollector()
  let passedBytes = 0
  return (bytes) => {
    passedBytes += bytes
    if (passedBytes < bytesPerCollection) return
    passedBytes = 0
    collect({ type: 'minor' })
  }
}
