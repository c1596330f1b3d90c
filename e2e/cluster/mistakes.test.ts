// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import { nodePod, provider, router, serve, startNode, usePlace } from './cluster.ts'
import { Load, settled } from './load.ts'

/*
 * A mistake never takes a running fleet down. After each bad change the test deletes all pods, one
 * by one, under a steady load without a failed request. The router loads a spec from a URL that the
 * operator cannot read, so that the operator accepts configs that the pods refuse.
 */

const place = usePlace('mistakes')
const { run, apply } = place
const routerPods = 'app.kubernetes.io/component=router'
let load: Load

/** The source of a program that serves an archive of chain specs. */
async function archiveServer(): Promise<string> {
  const archive = pack()
  archive.entry({ name: 'specs/ours.yml' }, 'id: OURS\nextends: ETH1\n')
  archive.finalize()
  const bytes = gzipSync(await buffer(archive)).toString('base64')
  return `require('node:http').createServer((_, answer) => answer.end(Buffer.from('${bytes}', 'base64'))).listen(9001)`
}

beforeAll(async () => {
  await startNode(place, 'node')
  await serve(place, nodePod('specs', '-e', await archiveServer()))
  await eventually(() => place.ask('specs:9001', '/'), 30_000)
  const url = `http://specs.${place.namespace}.svc:9001/specs.tar.gz`
  await apply(
    provider(place, 'alpha', 'node'),
    router('mainnet', { replicas: 2, specSources: [{ type: 'Url', url }] }),
  )
  await settled(place, 'mainnet')
  // Waits until the operator knows the config that the pods serve.
  await eventually(() => run('get', 'configmap', 'mainnet-router-last-good'), 60_000)
  load = await Load.start(place, 'mainnet')
}, 300_000)

const patch = (spec: object) =>
  run('patch', 'rpcr', 'mainnet', '--type=merge', '-p', JSON.stringify({ spec }))

async function reasonOf(type: string): Promise<string> {
  const { status } = await place.get('rpcr', 'mainnet')
  return status.conditions.find((each: any) => each.type === type).reason
}

const isReady = ({ metadata, status }: any) =>
  !metadata.deletionTimestamp &&
  status.conditions?.some((each: any) => each.type === 'Ready' && each.status === 'True')

/** Deletes every present pod, each once two others are ready. */
async function replaceAll(): Promise<void> {
  const { items } = await place.get('pods', '-l', routerPods)
  for (const { metadata } of items) {
    await run('delete', 'pod', metadata.name)
    await eventually(async () => {
      const { items: all } = await place.get('pods', '-l', routerPods)
      expect(all.filter(isReady).length).toBeGreaterThanOrEqual(2)
    }, 120_000)
  }
}

const policies = (method: string) => ({
  crossValidation: {
    policies: [{ chainId: 'ETH1', apiInterface: 'jsonrpc', method, forbidCallers: true }],
  },
})

test.each([
  {
    mistake: 'a field that the operator refuses',
    bad: {
      crossValidation: {
        policies: [
          { ...policies('eth_call').crossValidation.policies[0], agreementThreshold: { floor: 9 } },
        ],
      },
    },
    right: { crossValidation: null },
    says: ['Accepted', 'InvalidConfig'],
  },
  {
    mistake: 'a method that only the pods know to be none',
    bad: policies('eth_getBalanec'),
    right: { crossValidation: null },
    says: ['Programmed', 'LastGoodRestored'],
  },
  {
    mistake: 'an image that does not exist',
    bad: { pod: { image: 'localhost/rpc-router:none' } },
    right: { pod: { image: null } },
    says: ['Progressing', 'RolloutInProgress'],
  },
])(
  '$mistake: new pods serve',
  async ({ mistake, bad, right, says }) => {
    const [type = '', reason = ''] = says
    await load.during(mistake, async () => {
      await patch(bad)
      await eventually(async () => expect(await reasonOf(type)).toBe(reason), 200_000)
      await replaceAll()
      expect(await reasonOf(type)).toBe(reason)
    })
    await load.during(`${mistake}, mended`, async () => {
      await patch(right)
      await settled(place, 'mainnet')
    })
  },
  600_000,
)
