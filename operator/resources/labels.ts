// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { group } from '../api/group.ts'
import type { RpcRouter } from '../api/rpc-router.ts'

/** The part that a child plays. */
export type Component = 'router' | 'redis'

const managedBy = 'rpc-router-operator'

/** On what the operator applied: a hash of what it asked for, so that it need not ask again. */
export const appliedAnnotation = `${group}/applied-hash`
/** On pods: of the config that they run. */
export const configHashAnnotation = `${group}/config-hash`
/** On the Deployment: of each key of a Secret that its pods use. */
export const secretHashesAnnotation = `${group}/secret-hashes`
/** On pods: of all keys of Secrets that they were started with. */
export const secretHashAnnotation = `${group}/secret-hash`

/** What selects the pods of a component: of fixed labels alone, since a selector can never change. */
export function selectorLabels(
  { metadata }: RpcRouter,
  component: Component,
): Readonly<Record<string, string>> {
  return {
    'app.kubernetes.io/name': 'rpc-router',
    'app.kubernetes.io/instance': metadata.name,
    'app.kubernetes.io/component': component,
  }
}

/** The recommended labels of a child; the version, where there is an image to take it from. */
export function childLabels(
  router: RpcRouter,
  component: Component,
  image?: string,
): Readonly<Record<string, string>> {
  const version = image === undefined ? null : versionOf(image)
  return {
    ...selectorLabels(router, component),
    ...(version !== null && { 'app.kubernetes.io/version': version }),
    'app.kubernetes.io/part-of': 'rpc-router',
    'app.kubernetes.io/managed-by': managedBy,
  }
}

/** What a list of all children selects by. */
export const childSelector = `app.kubernetes.io/managed-by=${managedBy}`

/** The tag of an image, where it can be a label; null for a digest or none. */
function versionOf(image: string): string | null {
  const tag = /:(?<tag>[A-Za-z0-9_][\w.-]{0,61}[A-Za-z0-9]|[A-Za-z0-9])$/.exec(
    image.replace(/@.*$/, ''),
  )
  return tag?.groups?.['tag'] ?? null
}
