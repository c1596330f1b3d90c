// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { rpcRouterSchema } from '../../../operator/api/rpc-router.ts'
import { upstreamProviderSchema } from '../../../operator/api/upstream-provider.ts'
import { kubectlFor } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'
import { readManifests } from './manifest-table.ts'

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)

describe.each([
  ['rpc-router.accepted.yaml', rpcRouterSchema],
  ['upstream-provider.accepted.yaml', upstreamProviderSchema],
])('%s', (file, schema) => {
  const rows = readManifests(file)

  test('the API server accepts all of them', async () => {
    const manifests = rows.map(({ manifest }) => manifest)
    const apply = ['apply', '--dry-run=server', '-f', '-']
    const { stderr, stdout } = await kubectl(apply, ...manifests)
    expect(stderr).toBe('')
    expect(stdout.trim().split('\n')).toHaveLength(rows.length)
  })

  test.each(rows.map(({ name, manifest }) => [name, manifest] as const))(
    'our schema accepts: %s',
    (_, manifest) => {
      expect(schema.safeParse(manifest).error?.message).toBeUndefined()
    },
  )
})
