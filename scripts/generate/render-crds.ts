// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { stringify } from 'yaml'
import type { CustomResourceDefinition } from '../../operator/api/crd/definition.ts'
import { rpcRouterDefinition } from '../../operator/api/crd/rpc-router.ts'
import { upstreamProviderDefinition } from '../../operator/api/crd/upstream-provider.ts'
import type { GeneratedFile } from './render-references.ts'

/** Renders `crds/GROUP_PLURAL.yaml` of every kind. */
export async function renderCrds(): Promise<readonly GeneratedFile[]> {
  return await Promise.all([rpcRouterDefinition(), upstreamProviderDefinition()].map(renderCrd))
}

async function renderCrd(definition: CustomResourceDefinition): Promise<GeneratedFile> {
  const { group, names } = definition.spec
  const path = `crds/${group}_${names.plural}.yaml`
  const yaml = stringify(definition, {
    lineWidth: 0,
    sortMapEntries: false,
    aliasDuplicateObjects: false,
  })
  const options = await resolveConfig(join(import.meta.dirname, '../..', path))
  const text = await format(`# Generated from operator/api. Do not edit.\n${yaml}`, {
    ...options,
    parser: 'yaml',
  })
  return { path, text }
}
