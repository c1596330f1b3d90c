// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { rbacManifests } from '../rbac/manifests.ts'
import type { CommandIo } from './command-io.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { writeObjects } from './documents.ts'
import { exitCodes } from './exit-codes.ts'
import { namespacesOf } from './namespaces.ts'

/** Prints the roles that the operator needs, and their bindings. */
export function runRbac(values: FlagValues, io: Pick<CommandIo, 'stdout'>): number {
  const [namespace = '', name = ''] = (valueOf(values, 'service-account') ?? '').split('/')
  const lease = {
    namespace: valueOf(values, 'lease-namespace') ?? namespace,
    name: valueOf(values, 'lease-name') ?? '',
  }
  const objects = rbacManifests({
    namespaces: namespacesOf(values),
    serviceAccount: { namespace, name },
    lease,
  })
  io.stdout.write(writeObjects(objects, valueOf(values, 'output')))
  return exitCodes.done
}
