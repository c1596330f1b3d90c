// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import type { RpcRouter } from '../../api/rpc-router.ts'
import { redisObjectName, redisPasswordKey } from '../../translate/object-names.ts'
import { childOf } from '../child.ts'
import { type Secret, secrets } from '../kinds.ts'

/** The key of the Secret with the users of Redis. */
export const redisUsersKey = 'users.acl'

/** The user of the probes: it may ask whether Redis answers, and nothing else. */
export const probeUser = 'probe'

/** The password of a managed Redis, and the file of its users, which holds only the hash of it. */
export function buildRedisSecret(router: RpcRouter, password: string): Secret {
  const hash = createHash('sha256').update(password).digest('hex')
  const users = `user default on #${hash} ~* &* +@all\nuser ${probeUser} on nopass -@all +ping\n`
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return {
    ...childOf(router, secrets, { name: redisObjectName(router), component: 'redis' }),
    type: 'Opaque',
    data: { [redisPasswordKey]: encode(password), [redisUsersKey]: encode(users) },
  }
}
