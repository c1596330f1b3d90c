// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Network, WebSocketProvider } from 'ethers'
import { createPublicClient, webSocket } from 'viem'
import { mainnet } from 'viem/chains'
import type { RouterProcess } from '../processes/router-process.ts'
import { waitUntil } from '../processes/eventually.ts'
import type { Devnet } from './devnet.ts'
import { ReceivedHeads, type HeadCounts } from './received-heads.ts'
import { getPage, metricValues } from './metrics-page.ts'
import type { Screen } from './screen.ts'

const calmBlocks = 2
/** Number of blocks mined right after the kill, which no subscription reports. */
const rushBlocks = 5
const deaths = 2
const eventTimeoutMs = 15_000
const widths = [16, 8, 8, 6, 6, 7, 0]

interface Listening {
  readonly name: string
  readonly seen: ReceivedHeads
}

/**
 * Subscribes viem and ethers to new blocks, and kills the node of the router's subscription twice
 * while blocks are mined. Returns the counts of each client.
 */
export async function tourSubscription(
  screen: Screen,
  router: RouterProcess,
  devnet: Devnet,
  signal: AbortSignal,
): Promise<readonly HeadCounts[]> {
  await using stack = new AsyncDisposableStack()
  const listening = await listen(router.url.replace('http', 'ws'), stack)
  const haveAll = (head: number) => listening.every(({ seen }) => seen.highest >= head)
  const report = (stretch: string, source: string) =>
    listening.map(({ name, seen }) => {
      const sum = seen.sum(devnet.head, (height) => devnet.hashOf(height))
      const { heads, missed, doubled } = sum
      screen.row([stretch, name, seen.highest, heads, missed, doubled, source], widths)
      return sum
    })
  /** Waits for more blocks and their events. A block with a late event counts as missed. */
  const moreBlocks = async (count: number) => {
    const head = devnet.head + count
    await waitUntil('more blocks', eventTimeoutMs, signal, () => devnet.head >= head)
    await devnet.settled()
    await waitUntil('their events', eventTimeoutMs, signal, () => haveAll(head)).catch(
      (error: unknown) => {
        if (signal.aborted) throw error
      },
    )
  }

  const heads = ['client', 'at block', 'received', 'missed', 'doubled', 'from']
  screen.row(
    ['', ...heads.map((head, at) => (at % 5 === 0 ? head : head.padStart(widths[at + 1]!)))],
    widths,
  )
  await moreBlocks(calmBlocks)
  let source = await sourceOf(router, signal)
  let counts = report('all up', source)
  for (let death = 0; death < deaths; death++) {
    const victim = source
    await devnet.kill(victim, rushBlocks)
    await moreBlocks(calmBlocks)
    source = await sourceOf(router, signal)
    counts = report(`${victim} killed`, source)
    await devnet.revive(victim)
  }
  const page = await getPage(`${router.adminUrl}/metrics`)
  const filled = metricValues(page, 'router_subscription_filled_blocks_total')
  const blocks = filled.reduce((sum, { value }) => sum + value, 0)
  screen.note(
    'One subscription at a node serves both clients.\n' +
      `${blocks} blocks came without an event of a node; the router fetched them, and sent them first.`,
  )
  return counts
}

/** Subscribes both clients. They do not reconnect, so a lost connection leaves a gap. */
async function listen(url: string, stack: AsyncDisposableStack): Promise<Listening[]> {
  const [byViem, byEthers] = [new ReceivedHeads(), new ReceivedHeads()]
  const transport = webSocket(url, { reconnect: false, keepAlive: false, retryCount: 0 })
  const viem = createPublicClient({ chain: mainnet, transport })
  stack.defer(async () => {
    const socket = await viem.transport.getRpcClient()
    socket.close()
  })
  // watchBlocks would request each block, and report blocks in the order of the answers.
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
    { name: 'viem', seen: byViem },
    { name: 'ethers', seen: byEthers },
  ]
}

async function sourceOf(router: RouterProcess, signal: AbortSignal): Promise<string> {
  let source = ''
  await waitUntil('the router subscribes at a node', eventTimeoutMs, signal, async () => {
    const page = await getPage(`${router.adminUrl}/metrics`)
    const values = metricValues(page, 'router_upstream_subscriptions')
    source = values.find(({ value }) => value > 0)?.labels['upstream'] ?? ''
    return source !== ''
  })
  return source
}
