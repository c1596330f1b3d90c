// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChildProcesses } from '../processes/child-processes.ts'
import { interruptedExitCode, interruptSignal, wordsOf } from '../processes/interrupt.ts'
import { freePorts } from '../processes/free-ports.ts'
import { startRouter } from '../processes/router-process.ts'
import { Devnet } from './devnet.ts'
import { tourFailure } from './failure-tour.ts'
import type { HeadCounts } from './received-heads.ts'
import { Screen } from './screen.ts'
import { tourSubscription } from './subscription-tour.ts'

const names = ['node-a', 'node-b', 'node-c']
const victim = 'node-b'

const interrupt = interruptSignal()
const screen = new Screen((text) => process.stdout.write(text))
const directory = await mkdtemp(join(tmpdir(), 'rpc-router-demo-'))
try {
  process.exitCode = (await demo(interrupt)) ? 0 : 1
} catch (error) {
  process.exitCode = interrupt.aborted ? interruptedExitCode : 1
  screen.verdict(false, interrupt.aborted ? 'Stopped.' : `The demo failed: ${wordsOf(error)}`)
}
if (process.exitCode === 1) screen.note(`The logs of all processes are kept in ${directory}`)
else await rm(directory, { recursive: true, force: true })

/** Runs the whole tour. Returns true if no request failed and no block was missed or duplicated. */
async function demo(interrupted: AbortSignal): Promise<boolean> {
  const over = new AbortController()
  const signal = AbortSignal.any([interrupted, over.signal])
  await using children = new ChildProcesses(directory)
  screen.headline('rpc-router', 'Three real Ethereum nodes behind one URL.')

  screen.step('Start')
  const devnet = await Devnet.start(names, await freePorts(names.length), { children, signal })
  const router = await startRouter({ children, directory, upstreams: devnet.nodes, signal })
  const producing = devnet.run(signal)
  producing.catch((error: unknown) => over.abort(error))
  const widths = [10, 24, 0]
  for (const { name, url } of devnet.nodes) screen.row([name, url, 'anvil, chain id 1'], widths)
  const seconds = (router.firstAnswerMs / 1000).toFixed(1)
  screen.row(['router', router.url, `first answer ${seconds} s after its start`], widths)
  screen.row(['config', router.configFile], widths)
  screen.note(`\n${router.configText}`)

  screen.step(`Under 200 reads a second, ${victim} dies (SIGKILL) and comes back`)
  const load = await tourFailure(screen, router.url, devnet, victim, signal)

  screen.step('Two clients receive each block over WebSocket, and the node that reports them dies')
  const received = await tourSubscription(screen, router, devnet, signal)

  const failures = load.stretches.flatMap((each) => Object.keys(each.failures))
  for (const failure of failures) screen.note(failure)
  const total = load.requests.toLocaleString('en-US')
  const sumOf = (figure: keyof HeadCounts) => received.reduce((sum, each) => sum + each[figure], 0)
  const [missed, doubled, wrong] = [sumOf('missed'), sumOf('doubled'), sumOf('wrong')]
  const isGood = load.failed === 0 && missed + doubled + wrong === 0
  screen.verdict(
    isGood,
    `${total} requests, ${load.failed} failed. ` +
      `${sumOf('heads')} blocks received, ${missed} missed, ${doubled} doubled` +
      (wrong > 0 ? `, ${wrong} with a wrong hash.` : '.'),
  )
  if (process.env['KEEP'] === '1') await keepRunning(router.url, router.adminUrl, signal)
  over.abort()
  await producing
  return isGood
}

async function keepRunning(url: string, adminUrl: string, signal: AbortSignal): Promise<void> {
  screen.row(['router', url], [10, 0])
  screen.row(['metrics', `${adminUrl}/metrics`], [10, 0])
  screen.row(['health', `${adminUrl}/metrics/overall-health`], [10, 0])
  screen.note('\nEverything keeps running until Ctrl-C.')
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
