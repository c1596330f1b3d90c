// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChildProcesses } from '../processes/child-processes.ts'
import { startRouter } from '../processes/router-process.ts'
import { runTool } from '../processes/run-tool.ts'
import { MirrorNode } from '../rest/mirror-node.ts'
import { startRedis } from '../state/redis-process.fixture.ts'
import type { Devnet } from './devnet.ts'
import type { Screen } from './screen.ts'

interface Parts {
  readonly children: ChildProcesses
  readonly directory: string
  readonly devnet: Devnet
  readonly signal: AbortSignal
}

const widths = [10, 24, 20, 0]
const account = `0x${'b0'.repeat(20)}`

/** Shows the state that two replicas share. @returns counts of requests and failures */
export async function tourSharedState(
  screen: Screen,
  parts: Parts,
): Promise<{ readonly requests: number; readonly wrong: readonly string[] }> {
  const wrong: string[] = []
  let requests = 0
  if (!(await hasRedis())) {
    screen.note('There is no redis-server on this machine: what replicas share is not shown.')
    return { requests, wrong }
  }
  const { devnet } = parts
  const redis = await startRedis(parts)
  await using liar = await startWrongNode(devnet.nodes[0]!.url)
  const replicas = await Promise.all(
    ['replica-1', 'replica-2'].map((name) =>
      startRouter({
        ...{ ...parts, name },
        upstreams: [...devnet.nodes.map(({ name, url }) => ({ name, url })), liar],
        settings: {
          ...{ 'resp-cache': { addresses: [redis.address] }, 'shared-state': true },
          ...{ 'cache-bytes': '16MiB', cache: { shared: true } },
        },
      }),
    ),
  )
  const ask = async (at: number, method: string, params: unknown, headers = {}) => {
    requests += 1
    const reply = await fetch(replicas[at]!.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: parts.signal,
    })
    const { result } = (await reply.json()) as { readonly result?: unknown }
    return { result, of: (name: string) => reply.headers.get(name) ?? '' }
  }
  const show = (at: number, call: string, result: string, by: string) =>
    screen.row([`replica ${at + 1}`, call, result, by], widths)
  screen.row(['asked', 'call', 'answer', 'by'], widths)

  const session = { 'rpc-stickiness': 'demo' }
  const nodes = new Set<string>()
  for (const at of [0, 1, 0, 1]) {
    const reply = await ask(at, 'eth_blockNumber', [], session)
    nodes.add(reply.of('rpc-provider-address'))
    show(at, 'blockNumber, a session', String(Number(reply.result)), [...nodes].join(', '))
  }
  if (nodes.size !== 1) wrong.push(`a session was served by ${nodes.size} nodes`)

  const kept: string[] = []
  for (const at of [0, 1]) {
    const reply = await ask(at, 'net_version', [])
    kept.push(reply.of('rpc-cache'))
    show(at, 'net_version', `Rpc-Cache: ${kept[at]}`, reply.of('rpc-provider-address'))
  }
  if (kept.join() !== 'miss,hit') wrong.push(`of a call to both, the cache says ${kept.join()}`)

  await devnet.settled()
  const truth = await ask(0, 'eth_getBalance', [account, '0x5'], {
    'rpc-providers-block': liar.name,
  })
  const voted = await ask(1, 'eth_getBalance', [account, '0x5'], {
    'rpc-cross-validation-max-participants': '4',
    'rpc-cross-validation-agreement-threshold': '3',
  })
  const [agree, disagree] = ['agreeing', 'disagreeing'].map((each) =>
    voted.of(`rpc-cross-validation-${each}-providers`),
  )
  const voters = `${agree}${disagree && `; not ${disagree}`}`
  show(1, 'getBalance, 3 of 4 votes', String(voted.result), voters)
  if (voted.result !== truth.result || agree?.includes(liar.name))
    wrong.push('the node that lies was not outvoted')
  for (const { child } of replicas) child.kill('SIGTERM')
  await Promise.all(replicas.map(({ child }) => child.ended))
  await redis.kill()
  return { requests, wrong }
}

function hasRedis(): Promise<boolean> {
  return runTool('redis-server', ['--version']).then(
    () => true,
    () => false,
  )
}

/** A node that forwards to another node, except for a balance of a million wei on each account. */
function startWrongNode(of: string): Promise<MirrorNode> {
  const headers = { 'content-type': 'application/json' }
  const liar = new MirrorNode('node-liar', ({ body }, answer) => {
    const isLie = body.includes('eth_getBalance')
    void fetch(of, { method: 'POST', headers, body: body.toString() })
      .then((reply) => reply.text())
      .then((text) =>
        answer.end(isLie ? text.replace(/"result":"[^"]*"/, '"result":"0xf4240"') : text),
      )
      .catch(() => answer.destroy())
  })
  return liar.start()
}
