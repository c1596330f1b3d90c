// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileURLToPath } from 'node:url'
import type { MethodDefinition } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { StoredClaim, SessionReply } from '../shared-store.ts'

/** `Entry` of cache.proto, which is the request and reply of every call. */
export interface Entry extends Partial<SessionReply>, StoredClaim {
  readonly counter?: string | undefined
}

export type UnaryCall = 'Get' | 'Set' | 'Claim' | 'Session' | 'Delete' | 'Increment'
type Service = Readonly<Record<UnaryCall | 'Watch', MethodDefinition<Entry, Entry>>>

const proto = fileURLToPath(new URL('cache.proto', import.meta.url))
/** The service of cache.proto. */
export const cacheService = loadSync(proto, { longs: Number })[
  'rpcrouter.cache.v1.Cache'
] as unknown as Service
