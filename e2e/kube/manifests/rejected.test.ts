// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Condition } from '../../../operator/api/status.ts'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { rpcRouters, upstreamProviders } from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { createOperator, run } from '../in-process-operator.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

interface Saying {
  /** `router`, or the name of a provider. */
  readonly of: string
  readonly condition: string
  readonly reason: string
  /** A part of the message. */
  readonly message?: string
}

interface Row {
  readonly case: string
  readonly router?: object
  readonly providers?: Readonly<Record<string, object>>
  readonly says: readonly Saying[]
}

const text = readFileSync(join(import.meta.dirname, 'rejected.yaml'), 'utf8')
const { cases } = parse(text) as { cases: readonly Row[] }
const rows = cases.map((row, index) => ({ ...row, name: `case-${index + 1}` }))

const { kubeconfig, namespace, client, signal } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)
const apiVersion = 'rpcrouter.dev/v1alpha1'

function objectsOf({ name, router = {}, providers = { alpha: {} } }: (typeof rows)[number]) {
  const labels = { pool: name }
  const endpoints = [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }]
  const providerSelector = { matchLabels: labels }
  const spec = { endpoints, skipWebsocketVerification: true, providerSelector, ...router }
  const least = { chainId: 'ETH1', apiInterface: 'jsonrpc' }
  return [
    ...Object.entries(providers).map(([provider, own]) => {
      const nodeUrls = [{ url: `https://${provider}.example` }]
      const { labels: ownLabels = labels, ...spec } = own as { labels?: object }
      const metadata = { name: `${name}-${provider}`, labels: ownLabels }
      return {
        apiVersion,
        kind: 'UpstreamProvider',
        metadata,
        spec: { ...least, nodeUrls, ...spec },
      }
    }),
    { apiVersion, kind: 'RpcRouter', metadata: { name }, spec },
  ]
}

const stop = new AbortController()
let running: Promise<void>

beforeAll(async () => {
  const stringData = { alpha: 'secret-of-alpha', broken: 'first\nsecond' }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData }
  await printed(kubectl(['apply', '-f', '-'], secret, ...rows.flatMap(objectsOf)))
  running = run(createOperator(client, { namespaces: [namespace] }), stop.signal)
})

afterAll(() => {
  stop.abort()
  return running
})

function filledIn(message: string, name: string): string {
  return message.replaceAll('NAMESPACE', namespace).replaceAll('NAME', name)
}

describe.each(rows)('$case', ({ name, says }) => {
  test.each(says)(
    '$of: $condition is $reason',
    async ({ of, condition: type, reason, message = '' }) => {
      const expected: unknown = expect.stringContaining(filledIn(message, name))
      const [kind, object] =
        of === 'router' ? [rpcRouters, name] : [upstreamProviders, `${name}-${of}`]
      await eventually(async () => {
        const found = await client.get<KubeObject>(kind, { namespace, name: object }, signal)
        const { status } = found as KubeObject & { status?: { conditions?: readonly Condition[] } }
        const condition = status?.conditions?.find((each) => each.type === type)
        expect(condition).toMatchObject({ reason, message: expected })
      })
    },
  )
})

test('no message contains a value of a Secret', async () => {
  const all = await printed(kubectl(['get', 'rpc,events', '-o', 'yaml']))
  expect(all).toContain('X-Key')
  expect(all).not.toMatch(/secret-of-alpha|first\\?nsecond/)
})
