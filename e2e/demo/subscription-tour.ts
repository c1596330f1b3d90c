// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Network, WebSocketProvider } from 'ethers'
import { createPublicClient, webSocket } from 'viem'
import { mainnet } from 'viem/chains'
import type { RouterProcess } from '../processes/router-process.ts'
import { waitUntil } from '../processes/wait-until.ts'
import type { Devnet } from './devnet.ts'
import { HeardHeads, type HeardSum, nothingHeard, since, together } from './heard-heads.ts'
import { getPage, metricValues } from './metrics-page.ts'
import type { Screen } from './screen.ts'

const calmBlocks = 2
/** Blocks that come at once when the node is gone, so that nobody but the past can tell of them. */
const rushBlocks = 5
const deaths = 2
const toldTimeoutMs = 15_000
const widths = [16, 8, 8, 6, 6, 7, 0]

interface Listening {
  readonly name: string
  readonly heard: HeardHeads
  /** What was reported of it already. */
  reported: HeardSum
}

/**
 * viem and ethers subscribe to new blocks; twice the node that tells the router of them is killed
 * while blocks come. Returns what both were told.
 */
export async function tourSubscription(
  screen: Screen,
  router: RouterProcess,
  devnet: Devnet,
  signal: AbortSignal,
): Promise<HeardSum> {
  await using stack = new AsyncDisposableStack()
  const listening = await listen(router.url.replace('http', 'ws'), stack)
  const allTold = (head: number) => listening.every(({ heard }) => heard.highest >= head)
  const report = (stretch: string, teller: string) => {
    for (const each of listening) {
      const sum = each.heard.sum(devnet.head, (height) => devnet.hashOf(height))
      const { heads, missed, doubled } = since(each.reported, sum)
      screen.row([stretch, each.name, each.heard.highest, heads, missed, doubled, teller], widths)
      each.reported = sum
    }
  }
  /** Waits until so many more blocks are there, and told. Whoever is not told in time has missed them. */
  const moreBlocks = async (count: number) => {
    const head = devnet.head + count
    await waitUntil('more blocks', toldTimeoutMs, signal, () =>
      Promise.resolve(devnet.head >= head),
    )
    await devnet.settled()
    await waitUntil('they are told', toldTimeoutMs, signal, () =>
      Promise.resolve(allTold(head)),
    ).catch((error: unknown) => {
      if (signal.aborted) throw error
    })
  }

  const heads = ['client', 'at block', 'heard', 'missed', 'doubled', 'told by']
  screen.row(
    ['', ...heads.map((head, at) => (at % 5 === 0 ? head : head.padStart(widths[at + 1]!)))],
    widths,
  )
  await moreBlocks(calmBlocks)
  let teller = await tellerOf(router, signal)
  report('all up', teller)
  for (let death = 0; death < deaths; death++) {
    const victim = teller
    await devnet.kill(victim, rushBlocks)
    await moreBlocks(calmBlocks)
    teller = await tellerOf(router, signal)
    report(`${victim} killed`, teller)
    await devnet.revive(victim)
  }
  const { text } = await getPage(`${router.adminUrl}/metrics`)
  const filled = metricValues(text, 'router_subscription_filled_blocks_total')
  const blocks = filled.reduce((sum, { value }) => sum + value, 0)
  screen.note(
    'One subscription at a node serves both clients.\n' +
      `${blocks} blocks came while no node told of them; the router fetched them, and told them first.`,
  )
  return together(listening.map(({ reported }) => reported))
}

/** Subscribes both clients. They do not connect again: a connection that ends leaves a hole. */
async function listen(url: string, stack: AsyncDisposableStack): Promise<Listening[]> {
  const [byViem, byEthers] = [new HeardHeads(), new HeardHeads()]
  const transport = webSocket(url, { reconnect: false, keepAlive: false, retryCount: 0 })
  const viem = createPublicClient({ chain: mainnet, transport })
  stack.defer(async () => {
    const socket = await viem.transport.getRpcClient()
    socket.close()
  })
  // watchBlocks would ask for each block once more, and tell in the order of the answers.
  await viem.transport.subscribe({
    params: ['newHeads'],
    onData(data) {
      const { number, hash } = data.result as { number: string; hash: string }
      byViem.add(Number(number), hash)
    },
  })
  const ethers = new WebSocketProvider(url, Network.from(1), { staticNetwork: true })
  stack.defer(() => ethers.destroy())
  await ethers.on('block', (height: number) => byEthers.add(height, null))
  return [
    { name: 'viem', heard: byViem, reported: nothingHeard },
    { name: 'ethers', heard: byEthers, reported: nothingHeard },
  ]
}

/** The node at which the router has its subscription. */
async function tellerOf(router: RouterProcess, signal: AbortSignal): Promise<string> {
  let teller = ''
  await waitUntil('a node tells the router of blocks', toldTimeoutMs, signal, async () => {
    const { text } = await getPage(`${router.adminUrl}/metrics`)
    const told = metricValues(text, 'router_upstream_subscriptions')
    teller = told.find(({ value }) => value > 0)?.labels['upstream'] ?? ''
    return teller !== ''
  })
  return teller
}
