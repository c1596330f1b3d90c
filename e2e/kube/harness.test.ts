// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, readlink, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { ensureAssets, findAssets, pinnedModule, type Program, programs } from './assets.ts'
import { clientOf } from './access.ts'
import { eventually } from '../processes/eventually.ts'
import { namespaces } from './resources.ts'
import { startCluster } from './test-cluster.ts'

const { signal } = new AbortController()

/** Processes that use files in a folder. */
async function processesIn(folder: string): Promise<string[]> {
  const found: string[] = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name)))
    try {
      const name = await readFile(`/proc/${pid}/comm`, 'utf8')
      const cwd = await readlink(`/proc/${pid}/cwd`)
      if (cwd.startsWith(folder)) found.push(name.trim())
    } catch {
      // The process has ended in the meantime.
      continue
    }
  return found.toSorted()
}

test('a second cluster is independent of the first, and leaves nothing behind', async () => {
  const first = inject('cluster')
  const second = await startCluster()
  expect(second.access.server).not.toBe(first.access.server)
  const clients = [clientOf(first.access), clientOf(second.access)] as const
  const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-in-the-second' } }
  await clients[1].create(namespaces, object, signal)
  const lists = await Promise.all(clients.map((each) => each.list(namespaces, {}, signal)))
  const isThere = lists.map(({ items }) =>
    items.some(({ metadata }) => metadata.name === 'only-in-the-second'),
  )
  expect(isThere).toEqual([false, true])
  expect(await processesIn(second.folder)).toEqual(['etcd', 'kube-apiserver', 'kube-controller'])
  await Promise.all(clients.map((each) => each.close()))
  await second[Symbol.asyncDispose]()
  expect([existsSync(second.folder), await processesIn(second.folder)]).toEqual([false, []])
})

test('a killed test process leaves nothing behind', async () => {
  const code = `
    import { startCluster } from ${JSON.stringify(join(import.meta.dirname, 'test-cluster.ts'))}
    console.log((await startCluster()).folder)
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const folder = await new Promise<string>((resolve) =>
    child.stdout.once('data', (text: Buffer) => {
      resolve(text.toString().trim())
    }),
  )
  expect(await processesIn(folder)).toHaveLength(3)
  child.kill('SIGKILL')
  await eventually(async () => !existsSync(folder) && (await processesIn(folder)).length === 0)
})

describe('the programs', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'assets-test-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('their versions are pinned', () => {
    expect(pinnedModule('kubectl').version).toMatch(/^1\.\d+\.\d+$/)
    expect(pinnedModule('etcd').version).toMatch(/^3\.\d+\.\d+$/)
    expect(pinnedModule('helm').version).toMatch(/^4\.\d+\.\d+$/)
    expect(pinnedModule('helm3').version).toMatch(/^3\.19\.\d+$/)
    expect(pinnedModule('promtool').version).toMatch(/^0\.\d+\.\d+$/)
  })

  test('KUBEBUILDER_ASSETS comes first, and built programs complete it', async () => {
    const built = await findAssets({ ...process.env, KUBEBUILDER_ASSETS: '' })
    await symlink(built.etcd!, join(folder, 'etcd'))
    const found = await findAssets({ ...process.env, KUBEBUILDER_ASSETS: folder })
    expect(found.etcd).toBe(join(folder, 'etcd'))
    expect(found['kube-apiserver']).toBe(built['kube-apiserver'])
  })

  test('without programs and without Go the error has instructions', async () => {
    const env = { RPC_ROUTER_CACHE: join(folder, 'empty'), PATH: dirname(process.execPath) }
    const found = await findAssets(env)
    expect(programs.filter((program: Program) => found[program] !== null)).toEqual([])
    await expect(ensureAssets(env)).rejects.toThrow(
      /install Go.*\n.*KUBEBUILDER_ASSETS.*\n.*make test-unit/,
    )
    expect(await readdir(join(folder, 'empty'), { recursive: true })).not.toContainEqual(
      expect.stringContaining('.building'),
    )
  })
})
