// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The API group of both kinds, and the prefix of our own labels and annotations. */
export const group = 'rpcrouter.dev'
export const version = 'v1alpha1'
export const apiVersion = `${group}/${version}` as const

/** How one kind is named in the API and by kubectl. */
export interface KindNames {
  readonly kind: string
  readonly plural: string
  readonly singular: string
  readonly shortName: string
}

/** `kubectl get rpc` lists both kinds. */
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

/** On an RpcRouter, with any value but `false` or none: nothing of it is changed until the annotation is gone. */
export const pausedAnnotation = `${group}/paused`
