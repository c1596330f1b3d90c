// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouter } from '../api/rpc-router.ts'
import { routerObjectName } from '../translate/object-names.ts'
import type { RenderedConfig } from '../translate/rendered-config.ts'
import { childOf } from './child.ts'
import { type ConfigMap, configMaps } from './kinds.ts'
import { configHashAnnotation } from './labels.ts'

/**
 * The config of the pods. It never changes: another config is another ConfigMap, so that an old pod which starts
 * again in the middle of a rollout finds the config that it was made for, and a rollback really goes back.
 */
export function buildConfigMap(router: RpcRouter, config: RenderedConfig): ConfigMap {
  return {
    ...childOf(router, configMaps, {
      name: configMapName(router, config.configHash),
      component: 'router',
      annotations: { [configHashAnnotation]: config.configHash },
    }),
    immutable: true,
    data: config.data,
  }
}

export function configMapName(router: RpcRouter, configHash: string): string {
  return `${routerObjectName(router)}-${configHash}`
}
