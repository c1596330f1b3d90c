// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { waitUntil } from '../processes/eventually.ts'
import type { Devnet } from './devnet.ts'
import type { Screen } from './screen.ts'
import { percentile, type Question, SteadyLoad, type Stretch } from './steady-load.ts'

const readsPerSecond = 200
const calmMs = 3_000
const darkMs = 5_000
const rejoinTimeoutMs = 45_000
const headSlackBlocks = 3

/** Kills `victim` under load and restarts it. Returns the load with its counts. */
export async function tourFailure(
  screen: Screen,
  url: string,
  devnet: Devnet,
  victim: string,
  signal: AbortSignal,
): Promise<SteadyLoad> {
  const names = devnet.nodes.map(({ name }) => name)
  const widths = [16, 8, 6, 7, 7, 7, ...names.map(() => 7)]
  const load = new SteadyLoad(url, readsPerSecond, questionsAbout(devnet))
  const done = new AbortController()
  const report = (stretch: Stretch) => {
    const ms = (share: number) => percentile(stretch.latenciesMs, share).toFixed(1).padStart(7)
    const shares = names.map((name) => stretch.byUpstream.get(name) ?? 0)
    const { name, requests, failed, retried } = stretch
    screen.row([name, requests, failed, retried, ms(0.5), ms(0.99), ...shares], widths)
  }
  const heads = ['reads', 'failed', 'retried', 'p50 ms', 'p99 ms', ...names]
  screen.row(['', ...heads.map((head, at) => head.padStart(widths[at + 1]!))], widths)

  const allUp = load.enter('all up')
  const running = load.run(AbortSignal.any([signal, done.signal]))
  try {
    await sleep(calmMs, undefined, { signal })
    await devnet.kill(victim)
    const down = load.enter(`${victim} killed`)
    report(allUp)
    await sleep(darkMs, undefined, { signal })
    const rejoining = load.enter(`${victim} starts`)
    report(down)
    await devnet.revive(victim)
    await waitUntil(
      `${victim} serves again`,
      rejoinTimeoutMs,
      signal,
      () => (rejoining.byUpstream.get(victim) ?? 0) > 0,
    )
    const again = load.enter('all up again')
    report(rejoining)
    await sleep(calmMs, undefined, { signal })
    done.abort()
    await running
    report(again)
  } finally {
    done.abort()
    await running
  }
  return load
}

/** Distinct reads with known answers. */
function questionsAbout(devnet: Devnet): () => Question {
  let requests = 0
  return () => {
    const at = requests++
    if (at % 4 === 0) return headQuestion(devnet)
    if (at % 4 === 1) return blockQuestion(devnet, 1 + (at % devnet.head))
    const address = `0x${(0xc0ffee0000 + at).toString(16).padStart(40, '0')}`
    return {
      method: 'eth_getBalance',
      params: [address, 'latest'],
      judge: (result) => (result === '0x0' ? null : `balance ${String(result)} instead of 0x0`),
    }
  }
}

function headQuestion(devnet: Devnet): Question {
  const least = devnet.head - headSlackBlocks
  return {
    method: 'eth_blockNumber',
    params: [],
    judge: (result) =>
      Number(result) >= least ? null : `head ${Number(result)}, the nodes were at ${least} before`,
  }
}

function blockQuestion(devnet: Devnet, height: number): Question {
  const hash = devnet.hashOf(height)
  return {
    method: 'eth_getBlockByNumber',
    params: [`0x${height.toString(16)}`, false],
    judge(result) {
      const found = (result as { hash?: string } | null)?.hash
      return found === hash ? null : `block ${height} with hash ${found} instead of ${hash}`
    },
  }
}
