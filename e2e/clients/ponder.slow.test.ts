// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ChildProcesses, untilItServes } from '../processes/child-processes.ts'
import { eventually } from '../processes/eventually.ts'
import { freePort } from '../processes/free-ports.ts'
import { installProject } from '../processes/install-project.ts'
import { createWorkspace } from '../program/workspace.ts'
import { bells, rung, serveBells } from './bell-chain.ts'

const packages = join(import.meta.dirname, 'ponder-project')
const timeoutMs = 240_000

/** A Ponder project with one row per event. */
const filesFor = (rpc: string): Readonly<Record<string, string>> => ({
  'ponder.config.ts': `
    import { createConfig } from 'ponder'
    export default createConfig({
      database: { kind: 'pglite' },
      chains: { one: { id: 1, rpc: '${rpc}', pollingInterval: 200 } },
      contracts: {
        Bell: {
          abi: [${JSON.stringify(rung)}],
          chain: 'one', address: ${JSON.stringify(bells)}, startBlock: 0,
        },
      },
    })`,
  'ponder.schema.ts': `
    import { onchainTable } from 'ponder'
    export const rings = onchainTable('rings', (t) => ({
      id: t.text().primaryKey(), value: t.integer().notNull(),
    }))`,
  'src/index.ts': `
    import { ponder } from 'ponder:registry'
    import { rings } from 'ponder:schema'
    ponder.on('Bell:Rung', ({ event, context }) =>
      context.db.insert(rings).values({ id: event.id, value: Number(event.args.value) }))`,
  'src/api/index.ts': `
    import { db } from 'ponder:api'
    import { rings } from 'ponder:schema'
    import { Hono } from 'hono'
    export default new Hono().get('/rings', async (c) => c.json(await db.select().from(rings)))`,
})

test(
  'Ponder indexes each event once, in final blocks and at the tip',
  { timeout: timeoutMs },
  async () => {
    await installProject(packages)
    await using stack = new AsyncDisposableStack()
    const { chain, serve } = await serveBells(stack)
    for (let each = 0; each < 100; each++) {
      await chain.ring(3)
      await chain.mine(30)
    }
    await chain.mine(100)
    const router = await serve()
    const { directory } = stack.use(await createWorkspace())
    await mkdir(join(directory, 'src/api'), { recursive: true })
    for (const [name, text] of Object.entries(filesFor(router.url)))
      await writeFile(join(directory, name), text)
    await symlink(join(packages, 'node_modules'), join(directory, 'node_modules'))
    const children = stack.use(new ChildProcesses(directory))
    const port = await freePort()
    const ponder = join(packages, 'node_modules/ponder/dist/esm/bin/ponder.js')
    const child = await children.start({
      name: 'ponder',
      command: 'env',
      args: [
        ...['PONDER_TELEMETRY_DISABLED=true', process.execPath, ponder, 'start'],
        ...['--root', directory, '--schema', 'bells', '--log-format', 'json'],
        ...['--hostname', '127.0.0.1', '--port', String(port)],
      ],
    })
    const indexed = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/rings`)
      const rings = response.ok ? ((await response.json()) as readonly { value: number }[]) : []
      return rings.map(({ value }) => value).toSorted((a, b) => a - b)
    }
    const hasAll = async () => (await indexed()).length >= chain.events
    await untilItServes(child, AbortSignal.timeout(timeoutMs), hasAll)
    for (let each = 0; each < 20; each++) {
      await chain.ring(1)
      await chain.mine(1)
    }
    await eventually(hasAll)
    expect(await indexed()).toEqual(Array.from({ length: chain.events }, (_, at) => at + 1))
    expect(chain.asked.some(({ isRefused }) => isRefused)).toBe(true)
    expect(child.tail()).not.toContain('"level":"error"')
  },
)
