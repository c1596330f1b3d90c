// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's young generation small while the program starts: loading code and specs makes much
 * garbage, and a young generation that grew for it would keep some 30 MB for good.
 */
export function holdYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
}

/** Lets it grow again, as it does by default, when traffic wants it. */
export function releaseYoungGeneration(): void {
  setFlagsFromString('--semi-space-growth-factor=2')
}
