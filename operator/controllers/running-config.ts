// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import type { ConfigMap, Deployment } from '../resources/kinds.ts'
import { contentHashAnnotation, secretHashesAnnotation } from '../resources/labels.ts'
import { hashEntries } from '../translate/digest.ts'
import { readSecretHashes } from '../translate/secret-hashes.ts'
import { readUpstreams } from '../translate/stored-upstreams.ts'
import type { Running } from '../translate/translation.ts'
import { belongsTo } from './child-applier.ts'

/**
 * What the pods of a Deployment were made with: the upstreams of its config, and the Secrets that it was started with.
 *
 * Many may write ConfigMaps who may read no Secret, and what is taken from this one decides which Secrets pods get and
 * where their values are sent. So it counts only if it is, to the letter, what the operator wrote: the Deployment says
 * so. Else there is no last good form.
 *
 * @param deployment of the router
 * @param configMap that of the config which the Deployment has; null when it is gone
 */
export function runningWith(
  router: RpcRouter,
  deployment: Deployment,
  configMap: ConfigMap | null,
): Running {
  const { annotations = {} } = deployment.metadata
  const secretHashes = readSecretHashes(annotations[secretHashesAnnotation] ?? '')
  const data = configMap?.data ?? {}
  const isOurs =
    configMap !== null &&
    belongsTo(configMap, router) &&
    hashEntries(Object.entries(data)) === annotations[contentHashAnnotation]
  return { upstreams: isOurs ? readUpstreams(data) : [], secretHashes }
}
