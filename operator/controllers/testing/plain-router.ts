// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type RpcRouter, rpcRouterSchema } from '../../api/rpc-router.ts'

/** A router with one endpoint and all defaults. */
export const plainRouter: RpcRouter = rpcRouterSchema.parse({
  apiVersion: 'rpcrouter.dev/v1alpha1',
  kind: 'RpcRouter',
  metadata: { namespace: 'ns', name: 'r', uid: 'uid-of-r', generation: 1 },
  spec: { endpoints: [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }] },
})

/** The owner reference on the objects of the router. */
export const ownedByPlainRouter = {
  ownerReferences: [
    {
      apiVersion: plainRouter.apiVersion,
      kind: plainRouter.kind,
      name: plainRouter.metadata.name,
      uid: plainRouter.metadata.uid,
      controller: true,
    },
  ],
}
