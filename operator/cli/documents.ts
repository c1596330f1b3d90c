// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject } from '../kube/object.ts'
import { kubeYaml, type YamlMap } from '../api/crd/kube-yaml.ts'

/** Objects as kubectl takes them: YAML documents, or one JSON list. */
export function writeObjects(objects: readonly KubeObject[], format: string | null): string {
  const plain = JSON.parse(JSON.stringify(objects)) as readonly YamlMap[]
  if (format === 'json')
    return `${JSON.stringify({ apiVersion: 'v1', kind: 'List', items: plain }, null, 2)}\n`
  return plain.map((object) => `---\n${kubeYaml(object)}`).join('')
}
