// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The API group of both kinds, and the prefix of our labels and annotations. */
export const group = 'rpcrouter.dev'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}` as const

/** Names of a kind in the API and in kubectl. */
export interface KindNames {
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortName: string
}

/** Category of both kinds, for `kubectl get rpc`. */
export const category = 'rpc'

export const rpcRouterNames = {
  kind: 'RpcRouter',
  plural: 'rpcrouters',
  singular: 'rpcrouter',
  shortName: 'rpcr',
} as const satisfies KindNames

export const upstreamProviderNames = {
  kind: 'UpstreamProvider',
  plural: 'upstreamproviders',
  singular: 'upstreamprovider',
  shortName: 'upp',
} as const satisfies KindNames

/** Pauses an RpcRouter, unless its value is `false` or empty. */
export const pausedAnnotation = `${group}/paused`
