// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeObjects } from '../api/crd/kube-yaml.ts'
import { accountManifests, rbacManifests, userRoles } from '../rbac/rules.ts'
import {
  type CommandIo,
  exitCodes,
  type FlagValues,
  valueOf,
  leaseOf,
  namespacesOf,
} from './command-line.ts'

/**
 * Prints the operator's account, roles and bindings. For the whole cluster, it adds the roles for
 * users, which are cluster-wide.
 */
export function runRbac(values: FlagValues, io: Pick<CommandIo, 'stdout'>): number {
  const [namespace = '', name = ''] = (valueOf(values, 'service-account') ?? '').split('/')
  const options = {
    namespaces: namespacesOf(values),
    serviceAccount: { namespace, name },
    lease: leaseOf(values, namespace),
    managedRedis: valueOf(values, 'managed-redis') === 'true',
    monitors: valueOf(values, 'monitors') === 'true',
  }
  const ofUsers = options.namespaces === null ? userRoles : []
  const objects = [...accountManifests(options), ...rbacManifests(options), ...ofUsers]
  io.stdout.write(writeObjects(objects, valueOf(values, 'output')))
  return exitCodes.done
}
