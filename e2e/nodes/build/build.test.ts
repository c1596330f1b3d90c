// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type GoProgramName, goPrograms } from './go-programs.ts'
import { builtNodes, nodeCache } from './node-cache.ts'
import { isRecent, lackingTools } from './toolchain.ts'

test.each([
  ['go1.26.8', true],
  ['go1.25', true],
  ['go1.24.9', false],
  ['go1.9', false],
  ['go2.0', true],
  ['devel go1.27-abcdef', true],
  ['', false],
])('%s is recent: %s', (version, expected) => {
  expect(isRecent(version)).toBe(expected)
})

test('on a machine without tools the error names the packages to install', () => {
  const path = process.env['PATH']
  onTestFinished(() => void (process.env['PATH'] = path))
  process.env['PATH'] = '/nowhere'
  expect(lackingTools({})).toEqual([
    expect.stringMatching(/^Go is not installed.*go\.dev/),
    expect.stringMatching(/^There is no C compiler \(cc\).*wasmd.*gcc/),
  ])
})

test('the cache lists missing programs, and RPC_ROUTER_CACHE moves it', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rpc-router-cache-test-'))
  onTestFinished(async () => rm(root, { recursive: true }))
  const environment = { RPC_ROUTER_CACHE: root }
  const cache = nodeCache(environment)
  expect(dirname(cache.directory)).toBe(root)
  expect(cache.missing).toEqual(Object.keys(goPrograms))
  expect(() => builtNodes(environment)).toThrow(/not built yet: btcd, .*make nodes/)
  expect(() => builtNodes(environment, ['geth'])).toThrow(/not built yet: geth\. Build/)
  for (const name of Object.keys(goPrograms) as GoProgramName[])
    for (const path of [`bin/${name}`, ...goPrograms[name].files.map(({ to }) => to)]) {
      await mkdir(dirname(join(cache.directory, path)), { recursive: true })
      await writeFile(join(cache.directory, path), '')
    }
  expect(cache.missing).toEqual([])
  expect(builtNodes(environment).directory).toBe(cache.directory)
})
