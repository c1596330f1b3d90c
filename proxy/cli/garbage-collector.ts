// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export interface CollectOptions {
  /** `minor`: the young generation only, which takes about a millisecond. */
  readonly type: 'major' | 'minor'
  /** `last-resort` also gives back what is kept for later. */
  readonly flavor?: 'last-resort'
}

/** V8's own collector, to be run at once. */
export function garbageCollector(): (options: CollectOptions) => void {
  setFlagsFromString('--expose-gc')
  // The flag is read when a context is made.
  return runInNewContext('gc') as (options: CollectOptions) => void
}
