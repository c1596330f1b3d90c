// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { parseConfig } from '../config/parse.ts'
import { ConfigState } from '../telemetry/config-state.ts'
import { createLogger } from '../telemetry/log.ts'
import type { CheckedConfig } from './checked-config.ts'
import { refusalOf, Reloader } from './reload.ts'
import { NobodyServes } from './router.ts'

let directory = ''
beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'reload-'))))
afterAll(() => rm(directory, { recursive: true }))

const text = `
endpoints: [{network-address: '127.0.0.1:1', chain-id: ETH1, api-interface: jsonrpc}]
direct-rpc: [{name: a, chain-id: ETH1, api-interface: jsonrpc, node-urls: [{url: 'http://127.0.0.1:1'}]}]
`

const silent = { level: 'error', format: 'json', destination: { write() {} } } as const

/** A reloader of one file; `serves` controls whether the upstreams serve. */
async function reloading(
  name: string,
  {
    beganMs = 0,
    serves = () => true,
    namesToo = () => [],
  }: {
    beganMs?: number
    serves?: () => boolean
    namesToo?: () => string[] | Promise<string[]>
  } = {},
) {
  const file = join(directory, name)
  await writeFile(file, text)
  const parsed = parseConfig(text, { environment: {}, flags: {} })
  const { config } = parsed
  const checked: CheckedConfig = {
    ...{ parsed, config, problems: [], catalog: null, ofSpecs: [], sha256: '', snapshot: null },
    ...{ files: [file], redact: (given) => given },
  }
  const clock = new VirtualClock()
  const counts = { checked: 0, applied: 0 }
  const state = new ConfigState(clock, '')
  const reloader = new Reloader(checked, beganMs || Date.now() + 60_000, {
    readConfig: async () => {
      counts.checked += 1
      return { ...checked, files: [file, ...(await namesToo())] }
    },
    apply: () => {
      if (!serves()) {
        const error = new NobodyServes([{ chainId: 'ETH1', apiInterface: 'jsonrpc' }])
        return Promise.resolve(refusalOf(error))
      }
      counts.applied += 1
      return Promise.resolve(null)
    },
    redact: () => {},
    ...{
      state,
      clock,
      logger: createLogger({ ...silent, redact: (t) => t }),
    },
  })
  return { reloader, clock, counts, state, file }
}

test('a config whose upstreams do not serve is retried after 30 s', async () => {
  let isUp = false
  const { reloader, clock, counts, state } = await reloading('again.yml', { serves: () => isUp })
  void reloader.watch()
  await reloader.reload('SIGHUP')
  expect([counts.applied, state.refusal?.why]).toEqual([0, expect.stringContaining('ETH1 jsonrpc')])
  isUp = true
  const startMs = clock.nowMs()
  await expect
    .poll(async () => {
      await clock.advance(500)
      return counts.applied
    })
    .toBe(1)
  expect(clock.nowMs() - startMs).toBeGreaterThanOrEqual(30_000)
  expect(state.refusal).toBe(null)
  reloader.stop()
})

test("a file written during the router's start is read", async () => {
  const { reloader, clock, counts } = await reloading('started.yml', { beganMs: Date.now() })
  void reloader.watch()
  const turn = async () => {
    await clock.advance(500)
    return counts.checked
  }
  await expect.poll(turn).toBe(1)
  // It reloads only once.
  for (let each = 0; each < 20; each++) await turn()
  expect(counts.checked).toBe(1)
  reloader.stop()
})

test('a newly named file that changes while it is read is read again', async () => {
  const named = join(directory, 'named.env')
  const { reloader, clock, counts } = await reloading('naming.yml', {
    async namesToo() {
      await writeFile(named, 'KEY=1')
      return [named]
    },
  })
  void reloader.watch()
  await reloader.reload('SIGHUP')
  const turn = async () => {
    await clock.advance(500)
    return counts.checked
  }
  await expect.poll(turn).toBeGreaterThan(1)
  reloader.stop()
})
