// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import {
  acceptedMetadata,
  refusedMetadata,
} from '../../../operator/manifests/testing/metadata-cases.ts'
import { installCrds } from '../install-crds.ts'
import { kubectlFor } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)

beforeAll(() => installCrds(kubectl))

test.each([
  ...refusedMetadata.map(([metadata]) => [metadata, 1] as const),
  ...acceptedMetadata.map(([metadata]) => [metadata, 0] as const),
])('kubectl, and the API server, of %j: %i', async (metadata, code) => {
  const object = {
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'UpstreamProvider',
    metadata: { name: 'alpha', ...metadata },
    spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url: 'https://a.example' }] },
  }
  const said = await kubectl(['apply', '--dry-run=server', '-f', '-'], object)
  expect(said).toMatchObject({ code })
})
