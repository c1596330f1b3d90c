// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { projectText } from '../../scripts/law/project-files.ts'
import { eventually } from '../processes/eventually.ts'
import { nodePod, serve, startKubectl, startNode, usePlace } from './cluster.ts'
import { Load, settled } from './load.ts'
import { startMetrics, stopMetrics } from './metrics-stack.fixture.ts'

/*
 * The sample that scales with in-flight attempts, with the rule and the queries of
 * docs/operator/autoscaling.md: `make e2e-metrics`.
 */

const place = usePlace('metrics')
const { namespace, run, apply } = place
const page = projectText('docs/operator/autoscaling.md')
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => parse(text))
/** Every replica count that the Deployment had, in order. */
const counts: number[] = []
let watching: Awaited<ReturnType<typeof startKubectl>>
let load: Load

/** Delays balance reads, a third of the load, by 4 s: of 200 calls a second, 270 are in flight. */
const slowNode = `
const http = require('node:http')
http.createServer(async (request, response) => {
  const { method, headers, url } = request
  let body = ''
  for await (const chunk of request) body += chunk
  const pass = () => http.request('http://node:9001' + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers)
    answer.pipe(response)
  }).end(body)
  setTimeout(pass, body.includes('eth_getBalance') ? 4000 : 0)
}).listen(9001)`

beforeAll(async () => {
  await startNode(place, 'node')
  await serve(place, nodePod('slow', '-e', slowNode))
  await startMetrics(place, blocks.find((each) => each.rules).rules.custom)
  const sample = parseAllDocuments(projectText('samples/autoscaling-custom-metric.yaml'))
  const [router, autoscaler, provider] = sample.map((each) => each.toJS())
  provider.spec.nodeUrls = [{ url: `http://slow.${namespace}.svc:9001` }]
  autoscaler.spec.maxReplicas = 3
  autoscaler.spec.behavior.scaleDown.stabilizationWindowSeconds = 15
  await apply(router, autoscaler, provider)
  await settled(place, 'custom-metric')
  const count = 'jsonpath={.spec.replicas}{"\\n"}'
  watching = await startKubectl(place, 'get', 'deployment/custom-metric-router', '-w', '-o', count)
  watching.stdout.on('data', (lines: Buffer) => {
    for (const line of lines.toString().match(/\d+/g) ?? [])
      if (counts.at(-1) !== Number(line)) counts.push(Number(line))
  })
})

afterAll(async () => {
  watching?.kill()
  if (!process.env['KEEP']) await stopMetrics(place)
})

/** The results of the page's query. */
async function inFlight(): Promise<number[]> {
  const [, path = ''] = /--raw "(.*)"/.exec(page) ?? []
  const { items } = JSON.parse(await run('get', '--raw', path.replace('/rpc/', `/${namespace}/`)))
  return items.map(({ value }: { value: string }) => Number(value))
}

test('the adapter has the metric of each pod, and the autoscaler reads it', async () => {
  await eventually(async () => expect(await inFlight()).toEqual([0, 0]), 120_000)
  await run('wait', '--for=condition=ScalingActive', 'hpa/custom-metric', '--timeout=60s')
}, 240_000)

test('in-flight calls add a replica', async () => {
  load = await Load.start(place, 'custom-metric')
  await load.during('replica added', async () => {
    await eventually(() => expect(counts).toEqual([2, 3]), 120_000)
    await settled(place, 'custom-metric')
    await eventually(async () => expect(await inFlight()).toHaveLength(3), 60_000)
  })
}, 400_000)

test('the KEDA query counts the in-flight attempts of all pods', async () => {
  const [{ metadata }] = blocks.find((each) => each.kind === 'ScaledObject').spec.triggers
  const query = metadata.query
    .replace('"rpc"', `"${namespace}"`)
    .replace('rpc/mainnet', `${namespace}/custom-metric`)
  const answer = await place.ask(
    'prometheus:9001',
    `/api/v1/query?query=${encodeURIComponent(query)}`,
  )
  const { result } = JSON.parse(answer).data
  expect(result.map((each: any) => each.metric)).toEqual([{}])
  const sum = (await inFlight()).reduce((all, each) => all + each, 0)
  expect(Math.abs(Number(result[0].value[1]) - sum)).toBeLessThan(sum / 2)
})

test('their end removes the replica, without any other replica count', async () => {
  await load.stop()
  const trickle = await Load.start(place, 'custom-metric', 5, 'trickle')
  await trickle.during('replica removed', async () => {
    await eventually(() => expect(counts).toEqual([2, 3, 2]), 120_000)
    await settled(place, 'custom-metric')
  })
  expect((await place.get('rpcr', 'custom-metric')).spec.replicas).toBe(2)
}, 400_000)
