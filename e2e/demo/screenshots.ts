// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Browser } from '../console/browser.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePorts } from '../processes/free-ports.ts'
import { interruptSignal } from '../processes/interrupt.ts'
import { startRouter } from '../processes/router-process.ts'
import { runProgram } from '../program/program.ts'
import { Devnet } from './devnet.ts'
import { SteadyLoad } from './steady-load.ts'

// node e2e/demo/screenshots.ts   takes the pictures of docs/guides anew: the page and `router top`,
// while one of three real nodes is dead under load. Needs Chromium.

const guides = join(import.meta.dirname, '../../docs/guides')
const [width, scale] = [1280, 1.5]
const over = new AbortController()
const signal = AbortSignal.any([interruptSignal(), over.signal])
const directory = await mkdtemp(join(tmpdir(), 'rpc-router-screenshots-'))

try {
  await using children = new ChildProcesses(directory)
  const names = ['own-node', 'provider-a', 'provider-b']
  const devnet = await Devnet.start(names, await freePorts(names.length), { children, signal })
  const { url, adminUrl } = await startRouter({
    ...{ children, directory, upstreams: devnet.nodes, signal },
  })
  const producing = devnet.run(signal)
  let asked = 0
  const load = new SteadyLoad(url, 50, () => ({
    method: 'eth_getBalance',
    params: [`0x${(0xc0ffee0000 + asked++).toString(16).padStart(40, '0')}`, 'latest'],
    judge: () => null,
  }))
  load.enter('all')
  const running = load.run(signal)
  await sleep(15_000, undefined, { signal })
  await devnet.kill('provider-b')
  await sleep(8_000, undefined, { signal })

  await using browser = await Browser.start()
  await browser.size(width, 400, scale)
  await browser.scheme('light')
  await browser.open(`${adminUrl}/`)
  await sleep(3_000)
  await writeFile(join(guides, 'console.png'), await browser.screenshot())

  const { stdout } = await runProgram(['top', '--once', '--at', new URL(adminUrl).host])
  const text = stdout.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const style =
    'margin:-8px;min-height:100vh;padding:20px;white-space:pre-wrap;background:#15181d;color:#d7dde5;font:12px/1.6 monospace'
  await browser.open(`data:text/html,${encodeURIComponent(`<pre style="${style}">${text}</pre>`)}`)
  await browser.size(width, 300, scale)
  await sleep(1_000)
  await writeFile(join(guides, 'top.png'), await browser.screenshot())
  over.abort()
  await Promise.allSettled([running, producing])
} finally {
  await rm(directory, { recursive: true, force: true })
}
