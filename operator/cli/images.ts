// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Images } from '../resources/build-children.ts'
import { type FlagValues, valueOf } from './command-line.ts'

/** Images of what names none of its own: the router of the operator's own version. */
export function imagesOf(values: FlagValues, version: string): Images {
  return {
    router: valueOf(values, 'router-image') ?? `rpc-router:${version}`,
    redis: valueOf(values, 'redis-image') ?? 'redis:8.2-alpine',
  }
}
