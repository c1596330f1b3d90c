// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import {
  type CustomResourceDefinition,
  rpcRouterDefinition,
  upstreamProviderDefinition,
} from '../../../operator/api/crd/definition.ts'
import type { StructuralSchema } from '../../../operator/api/crd/structural-schema.ts'
import { kubeYaml } from '../../../operator/api/crd/kube-yaml.ts'
import { readDocuments } from '../../../operator/manifests/read-documents.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

/*
 * kubectl reads YAML 1.1, in which words such as off are not strings.
 */

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)

/** The enum values of every field, by path. */
function constantsOf(path: string, schema: StructuralSchema): readonly object[] {
  const { enum: words, properties = {}, items, additionalProperties } = schema
  const own = words === undefined ? [] : [{ path, words }]
  return [
    ...own,
    ...Object.entries(properties).flatMap(([name, field]) => constantsOf(`${path}.${name}`, field)),
    ...(items === undefined ? [] : constantsOf(`${path}[]`, items)),
    ...(additionalProperties === undefined ? [] : constantsOf(`${path}{}`, additionalProperties)),
  ]
}

const definitions = [rpcRouterDefinition(), upstreamProviderDefinition()]

test.each(
  definitions.map((each) => [`${each.spec.names.plural}.${each.spec.group}`, each] as const),
)('the words of %s are those of the code', async (name, ours) => {
  const output = await printed(kubectl(['get', 'crd', name, '-o', 'json']))
  const [theirs, own] = [JSON.parse(output), ours].map((each) => {
    const { schema } = (each as CustomResourceDefinition).spec.versions[0]
    return constantsOf('', schema.openAPIV3Schema)
  })
  expect(own).not.toEqual([])
  const byPath = (list: readonly object[] = []) =>
    list.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  expect(byPath(theirs)).toEqual(byPath(JSON.parse(JSON.stringify(own)) as object[]))
})

describe('integrity', () => {
  const router = (integrity: string) => `
apiVersion: rpcrouter.dev/v1alpha1
kind: RpcRouter
metadata: { name: checked }
spec:
  endpoints: [{ name: eth1, chainId: ETH1, apiInterface: jsonrpc }]
  relay: { integrity: ${integrity} }
`
  const tryOut = (integrity: string) =>
    kubectl(['apply', '--dry-run=server', '-o', 'json', '-f', '-'], router(integrity))

  test.each(["'off'", '"off"', 'envelope', 'full'])('%s is a string', async (integrity) => {
    const stored = JSON.parse(await printed(tryOut(integrity))) as {
      spec: { relay: { integrity: unknown } }
    }
    expect(stored.spec.relay.integrity).toBe(integrity.replaceAll(/['"]/g, ''))
  })

  test('off without quotes is not a string', async () => {
    expect(await tryOut('off')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'Unsupported value: false: supported values: "off"',
      ) as unknown,
    })
  })
})

test('kubectl parses values without quotes as the project does', async () => {
  const words = [
    ...['y', 'Yes', 'ON', 'n', 'No', 'off', 'OFF', 'oFF', '~', '', 'Null', '010', '0x1F', '0b11'],
    ...[
      '1_000',
      '+7',
      '1e3',
      '1.50',
      '.5',
      '1:30',
      '2026-01-31',
      '2026-01-31T03:00:00Z',
      '|-\n  on',
    ],
  ]
  const text = [
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: a, annotations: { "n": "y" } }',
    ...words.map((word, at) => `w${at}: ${word}`),
    'on: 1\nNo: 2',
    'x: &x { k: x }\nunder: { <<: *x, k: 1 }',
  ].join('\n')
  const local = ['annotate', '--local', '-o', 'json', '-f', '-', 'n=y', '--overwrite']
  const theirs = JSON.parse(await printed(kubectl(local, text))) as unknown
  expect(readDocuments(text)).toEqual([{ place: 'document 1, line 1', value: theirs }])
})

test('kubectl parses YAML of the project with the same values', async () => {
  const texts = [
    'off',
    'y',
    '010',
    '1:30',
    '2026-01-31',
    '~',
    '',
    ' a',
    'a: b',
    '- a',
    '#',
    'a\nb',
    '0x1F',
  ]
  const config = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'on', annotations: { u: '1_000' } },
    written: texts.map((text) => ({ [text]: [text] })),
  }
  const local = ['annotate', '--local', '-o', 'json', '-f', '-', 'n=y']
  const read = JSON.parse(await printed(kubectl(local, kubeYaml(config)))) as object
  expect(read).toEqual({
    ...config,
    metadata: { name: 'on', annotations: { n: 'y', u: '1_000' } },
  })
})
