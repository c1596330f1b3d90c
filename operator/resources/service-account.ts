// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName } from '../translate/object-names.ts'
import { childOf } from './child.ts'
import { type ServiceAccount, serviceAccounts } from './kinds.ts'

/** An identity for the pods that may do nothing: they never talk to the API server. */
export function buildServiceAccount(router: RpcRouter): ServiceAccount {
  const name = routerObjectName(router)
  return {
    ...childOf(router, serviceAccounts, { name, component: 'router' }),
    automountServiceAccountToken: false,
  }
}
