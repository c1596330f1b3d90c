// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { accountManifests, rbacManifests, userRoles } from '../rbac/manifests.ts'
import { type CommandIo, exitCodes } from './command-io.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { writeObjects } from './documents.ts'
import { leaseOf, namespacesOf } from './choices.ts'

/**
 * Prints the account of the operator, the roles that it needs, and their bindings; for the whole
 * cluster also what people may do, since that is of the whole cluster too.
 */
export function runRbac(values: FlagValues, io: Pick<CommandIo, 'stdout'>): number {
  const [namespace = '', name = ''] = (valueOf(values, 'service-account') ?? '').split('/')
  const options = {
    namespaces: namespacesOf(values),
    serviceAccount: { namespace, name },
    lease: leaseOf(values, namespace),
  }
  const ofPeople = options.namespaces === null ? userRoles : []
  const objects = [...accountManifests(options), ...rbacManifests(options), ...ofPeople]
  io.stdout.write(writeObjects(objects, valueOf(values, 'output')))
  return exitCodes.done
}
