// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { acceptedMetadata, refusedMetadata } from './testing/metadata-cases.ts'
import { readManifests } from './read-manifests.ts'

const read = (metadata: object) => {
  const text = JSON.stringify({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'UpstreamProvider',
    metadata: { name: 'alpha', ...metadata },
    spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url: 'https://a.example' }] },
  })
  return readManifests([{ name: 'a.yaml', text }], 'rpc')
}

describe('metadata that the API server refuses is refused', () => {
  test.each(refusedMetadata)('%j', (metadata, sentence) => {
    const { problems, providers } = read(metadata)
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining(sentence)])
    expect(providers).toEqual([])
  })
})

describe('metadata that the API server takes is taken', () => {
  test.each(acceptedMetadata)('%j', (metadata) => {
    const { problems, providers } = read(metadata)
    expect([problems, providers.length]).toEqual([[], 1])
  })
})

test('each mistake is told', () => {
  const { problems } = read({ labels: { '-a': 'b', c: 'd e' }, annotations: { 'x y': '' } })
  expect(problems.map(({ message }) => message)).toEqual([
    expect.stringContaining('metadata.labels: the key -a '),
    expect.stringContaining('metadata.labels: the value of c '),
    expect.stringContaining('metadata.annotations: the key x y '),
  ])
})
