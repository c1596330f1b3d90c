// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeClient } from '../kube/client.ts'
import { secretData } from '../translate/decode-data.ts'
import { type Secret, secrets } from '../resources/kinds.ts'
import { redisObjectName, redisPasswordKey } from '../translate/object-names.ts'
import { belongsTo, type ChildApplier, findObject, isOrphanOf } from './child-applier.ts'

/** Passwords of managed Redis: each is made once, and from then on lives in its Secret alone. */
export class RedisPasswords {
  readonly #client: Pick<KubeClient, 'get'>
  readonly #children: ChildApplier
  readonly #generate: () => string

  /** @param generate a new password: unpredictable, of printable characters without spaces */
  constructor(client: Pick<KubeClient, 'get'>, children: ChildApplier, generate: () => string) {
    this.#client = client
    this.#children = children
    this.#generate = generate
  }

  /** The password of a router's Redis; a new one when there is none yet. */
  async of(router: RpcRouter, signal: AbortSignal): Promise<string> {
    const ref = { namespace: router.metadata.namespace, name: redisObjectName(router) }
    const known = this.#children.latest<Secret>(secrets, ref)
    const secret = known ?? (await findObject(this.#client, secrets, ref, signal))
    const isOurs = secret !== null && (belongsTo(secret, router) || isOrphanOf(secret, router))
    const password = isOurs ? secretData({ data: secret.data ?? {} }).get(redisPasswordKey) : null
    return password || this.#generate()
  }
}
