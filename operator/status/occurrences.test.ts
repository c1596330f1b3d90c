// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, test } from 'vitest'
import { eventReasons } from '../api/events.ts'
import { type RpcRouter, rpcRouterSchema } from '../api/rpc-router.ts'
import type { Condition } from '../api/status.ts'
import { type UpstreamProvider, upstreamProviderSchema } from '../api/upstream-provider.ts'
import type { Deployment } from '../resources/kinds.ts'
import { contentHashAnnotation, secretHashAnnotation } from '../resources/labels.ts'
import { conditionOccurrences, deploymentOccurrences } from './condition-set.ts'

function condition(type: string, status: Condition['status'], reason: string): Condition {
  return { type, status, reason, message: 'why', lastTransitionTime: '2026-01-31T03:00:00Z' }
}

function routerWith(before: readonly Condition[] | null): RpcRouter {
  const endpoints = [{ name: 'eth1', chainId: 'ETH1', apiInterface: 'jsonrpc' }]
  return rpcRouterSchema.parse({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'RpcRouter',
    metadata: { name: 'mainnet' },
    spec: { endpoints },
    ...(before && { status: { conditions: before } }),
  })
}

function providerWith(before: readonly Condition[]): UpstreamProvider {
  return upstreamProviderSchema.parse({
    apiVersion: 'rpcrouter.dev/v1alpha1',
    kind: 'UpstreamProvider',
    metadata: { name: 'alpha' },
    spec: { chainId: 'ETH1', apiInterface: 'jsonrpc', nodeUrls: [{ url: 'https://a.example' }] },
    status: { conditions: before },
  })
}

const reasonsOf = (occurrences: readonly { reason: string }[]) =>
  occurrences.map(({ reason }) => reason)

describe('an Event of a router', () => {
  const programmed = condition('Programmed', 'True', 'Programmed')
  const paused = condition('Programmed', 'False', 'Paused')

  test.each([
    ['a refused spec', [], condition('Accepted', 'False', 'NoProviders'), ['NotAccepted']],
    [
      'a missing Secret',
      [condition('ResolvedRefs', 'True', 'ResolvedRefs')],
      condition('ResolvedRefs', 'False', 'SecretNotFound'),
      ['SecretNotFound'],
    ],
    [
      'a missing key',
      [],
      condition('ResolvedRefs', 'False', 'SecretKeyNotFound'),
      ['SecretNotFound'],
    ],
    [
      'a missing ConfigMap',
      [],
      condition('ResolvedRefs', 'False', 'ConfigMapKeyNotFound'),
      ['ConfigMapNotFound'],
    ],
    [
      'a name conflict',
      [programmed],
      condition('Programmed', 'False', 'NameConflict'),
      ['NameConflict'],
    ],
    [
      'a refused object',
      [programmed],
      condition('Programmed', 'False', 'ApplyFailed'),
      ['ApplyFailed'],
    ],
    ['a pause', [programmed], paused, ['Paused']],
    ['the end of a pause', [paused], programmed, ['Resumed']],
    [
      'the end of a pause in a conflict',
      [paused],
      condition('Programmed', 'False', 'NameConflict'),
      ['Resumed', 'NameConflict'],
    ],
    [
      'a stalled rollout',
      [condition('Progressing', 'True', 'RolloutInProgress')],
      condition('Progressing', 'False', 'RolloutStalled'),
      ['RolloutStalled'],
    ],
    [
      'a complete rollout',
      [condition('Progressing', 'True', 'RolloutInProgress')],
      condition('Progressing', 'False', 'RolloutComplete'),
      ['RolloutComplete'],
    ],
    ['none without a change', [programmed], programmed, []],
    [
      'none for a recovery',
      [condition('Accepted', 'False', 'NoProviders')],
      condition('Accepted', 'True', 'Accepted'),
      [],
    ],
  ])('%s', (_, before, after, reasons) => {
    expect(
      reasonsOf(
        conditionOccurrences('NotAccepted', routerWith(before).status, { conditions: [after] }),
      ),
    ).toEqual(reasons)
  })

  test('none for a rollout that was complete before the first observation', () => {
    const after = condition('Progressing', 'False', 'RolloutComplete')
    expect(
      conditionOccurrences('NotAccepted', routerWith(null).status, { conditions: [after] }),
    ).toEqual([])
  })
})

describe('an Event of a provider', () => {
  test.each([
    ['a refusal', condition('Accepted', 'False', 'DuplicateName'), ['InvalidProvider']],
    ['a missing Secret', condition('ResolvedRefs', 'False', 'SecretNotFound'), ['SecretNotFound']],
    [
      'a missing ConfigMap',
      condition('ResolvedRefs', 'False', 'ConfigMapNotFound'),
      ['ConfigMapNotFound'],
    ],
    ['none for a healthy provider', condition('Ready', 'True', 'Ready'), []],
  ])('%s', (_, after, reasons) => {
    expect(
      reasonsOf(
        conditionOccurrences('InvalidProvider', providerWith([]).status, { conditions: [after] }),
      ),
    ).toEqual(reasons)
  })
})

test('an Event for changed pods names the change and whether pods are replaced', () => {
  const made = { content: 'a', live: 'x', secret: 's', cpu: '1' }
  const deployment = (different: Partial<typeof made>) => {
    const { content, live, secret, cpu } = { ...made, ...different }
    const annotations = { [contentHashAnnotation]: content, [secretHashAnnotation]: live }
    const template = {
      metadata: { annotations: { [secretHashAnnotation]: secret } },
      spec: { containers: [{ name: 'router', resources: { limits: { cpu } } }] },
    }
    const metadata = { name: 'r-router', annotations }
    return {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata,
      spec: { template },
    } as unknown as Deployment
  }
  const change = (different: Partial<typeof made>) =>
    deploymentOccurrences(deployment({}), deployment(different)).map(
      ({ reason, note }) => `${reason}: ${note.replace(/^.*: /, '')}`,
    )
  const [live, replaced] = ['the pods reload it', 'the pods are replaced']
  expect(change({})).toEqual([])
  expect(change({ content: 'b', live: 'y' })).toEqual([`ConfigRendered: ${live}`])
  expect(change({ content: 'b', cpu: '2' })).toEqual([`ConfigRendered: ${replaced}`])
  expect(change({ live: 'y' })).toEqual([`SecretRotated: ${live}`])
  expect(change({ secret: 't' })).toEqual([`SecretRotated: ${replaced}`])
  expect(change({ cpu: '2' })).toEqual(['RolloutStarted: The pod template changed'])
  expect(reasonsOf(deploymentOccurrences(null, deployment({})))).toEqual(['ConfigRendered'])
  expect(deploymentOccurrences(deployment({}), null)).toEqual([])
})

test('the note is the message; the table gives type and action', () => {
  const after = { conditions: [condition('Programmed', 'False', 'NameConflict')] }
  const { type, action } = eventReasons.NameConflict
  expect(conditionOccurrences('NotAccepted', routerWith([]).status, after)).toEqual([
    { type, action, reason: 'NameConflict', note: 'why' },
  ])
})
