// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'

/** What every object of a router is called, or begins with. */
export function routerObjectName({
  metadata,
}: {
  readonly metadata: Pick<RpcRouter['metadata'], 'name'>
}): string {
  return `${metadata.name}-router`
}

/** What every object of a managed Redis is called, its password Secret among them. */
export function redisObjectName({ metadata }: RpcRouter): string {
  return `${metadata.name}-redis`
}

/** The key of the Secret of a managed Redis that holds the password. */
export const redisPasswordKey = 'password'

export const redisPort = 6379
