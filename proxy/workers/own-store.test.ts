// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { RouterConfig } from '../config/types.ts'
import { WorkerLink } from './worker.ts'
import type { Start } from './messages.ts'

test('the store of the workers has a second to answer, since a start keeps the machine busy', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rpc-router-'))
  const sockets: Socket[] = []
  const silent = createServer((socket) => sockets.push(socket)).listen(`${directory}/store`)
  await once(silent, 'listening')
  const link = new WorkerLink(1, { kind: 'start', directory } as Start)
  const config = { store: null, cacheServer: null, cache: { store: null } } as RouterConfig
  const { answers } = await link.stores(config)
  const clock = new VirtualClock()
  const changes: (string | undefined)[] = []
  const onChange = (error: Error | null) => void changes.push(error?.message)
  const store = answers!.open({ clock, random: seededRandom(1), commandTimeoutMs: 50, onChange })
  onTestFinished(() => {
    store.close()
    for (const socket of sockets) socket.destroy()
    silent.close()
    rmSync(directory, { recursive: true })
  })
  const late = store.get('key').catch((error: unknown) => error)
  await clock.advance(900)
  expect(changes).toEqual([])
  await clock.advance(200)
  expect(await late).toMatchObject({ fault: 'timeout' })
  expect(changes).toHaveLength(1)
})
