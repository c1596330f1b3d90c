// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { testSpecs } from '../testing/specs.ts'
import { readScenario } from '../testing/scenario.ts'
import { validateProvider } from './translate.ts'

/** Returns the refusals of a provider with this URL. */
function refusalsOf(url: string, secret: string | null = null, allowLinkLocal = false) {
  const variables = [{ name: 'URL', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }]
  const { providers, data } = readScenario(
    JSON.stringify({
      providers: { a: { nodeUrls: [{ url }], ...(secret !== null && { variables }) } },
      secrets: secret === null ? {} : { s: { k: secret } },
    }),
  )
  const [provider] = providers
  if (provider === undefined) throw new Error('there is no provider')
  return validateProvider(provider, data, testSpecs, allowLinkLocal).refusals
}

const linkLocal = [
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.0.1:8545',
  'http://user:word@169.254.1.1/',
  'http://2852039166',
  'http://0xa9fea9fe/',
  'http://0xA9.0xfe.43518',
  'http://0251.0376.0251.0376',
  'http://169.254.169.254.',
  'http://%31%36%39.254.169.254',
  'ws://169.254.169.254',
  'wss://0xa9fea9fe',
  'http://[fe80::1]:8545',
  'http://[FEBF::1]',
  'http://[::ffff:169.254.169.254]',
  'http://[::ffff:a9fe:a9fe]',
  'http://[0:0:0:0:0:ffff:a9fe:a9fe]',
  'http://[::169.254.169.254]',
  'http://[64:ff9b::169.254.169.254]',
  'http://[fd00:ec2::254]/',
  'http://[FD00:0EC2:0:0::254]/latest',
  'http://metadata.google.internal',
  'https://Metadata.Google.internal.:443/computeMetadata/v1',
]

test.each(linkLocal)('%s is refused', (url) => {
  expect(refusalsOf(url)).toEqual([
    {
      reason: 'InvalidConfig',
      field: 'spec.nodeUrls[0].url',
      message: expect.stringContaining('--allow-link-local') as string,
    },
  ])
})

test.each(linkLocal)('%s in a Secret is refused without being shown', (url) => {
  const refusals = refusalsOf('${URL}', url)
  expect(refusals).toHaveLength(1)
  expect(JSON.stringify(refusals)).not.toContain(url)
})

test.each(linkLocal)('%s is accepted with --allow-link-local', (url) => {
  expect(refusalsOf(url, null, true)).toEqual([])
})

test.each([
  'http://169.253.255.255',
  'http://169.255.0.1',
  'http://1.169.254.1',
  'http://[fec0::1]',
  'http://[fd00:ec2::2540]',
  'http://[fd00:ec2::1]',
  'https://metadata.google.internal.example.com',
  'https://my-metadata.google.internal',
  'http://[fe7f::1]',
  'http://[::a9fd:1]',
  'http://[2001:db8::a9fe:a9fe]',
  'https://169.254.example.com',
  'https://alpha.example/169.254.169.254',
  'http://10.0.0.1',
  'http://127.0.0.1',
])('%s is accepted', (url) => {
  expect(refusalsOf(url)).toEqual([])
})
