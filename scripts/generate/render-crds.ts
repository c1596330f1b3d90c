// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import {
  type CustomResourceDefinition,
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../operator/api/crd/definition.ts'
import { kubeYaml, type YamlMap } from '../../operator/api/crd/kube-yaml.ts'
import type { GeneratedFile } from './render-references.ts'
import packageJson from '../../package.json' with { type: 'json' }

/** Renders `crds/GROUP_PLURAL.yaml` for every kind. */
export async function renderCrds(): Promise<readonly GeneratedFile[]> {
  return await Promise.all([rpcRouterDefinition(), upstreamProviderDefinition()].map(renderCrd))
}

async function renderCrd(definition: CustomResourceDefinition): Promise<GeneratedFile> {
  const { group, names } = definition.spec
  const path = `crds/${group}_${names.plural}.yaml`
  // The chart compares this version to refuse a downgrade of definitions.
  const annotations = { [`${group}/version`]: packageJson.version }
  const versioned = { ...definition, metadata: { ...definition.metadata, annotations } }
  const yaml = kubeYaml(JSON.parse(JSON.stringify(versioned)) as YamlMap)
  const options = await resolveConfig(join(import.meta.dirname, '../..', path))
  const text = await format(`# Generated from operator/api. Do not edit.\n${yaml}`, {
    ...options,
    parser: 'yaml',
  })
  return { path, text }
}
