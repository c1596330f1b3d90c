// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { main } from '../../proxy/cli/main.ts'
import { Terminal } from './terminal.ts'

async function createFolder() {
  const path = await mkdtemp(join(tmpdir(), 'router-asked-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

test('router init asks for URLs, a chain and a file, and writes a valid config', async () => {
  await using folder = await createFolder()
  const path = join(folder.path, 'asked.yml')
  await using terminal = await Terminal.start([], { command: 'init' })
  const screen = () => terminal.screen()
  await expect.poll(screen).toContain('◆  URLs of your nodes')
  await terminal.press('http://127.0.0.1:18443 https://btc.example.com/${KEY}')
  await expect.poll(screen).toContain('btc.example.com/${KEY}')
  await terminal.press('Enter')
  await expect.poll(screen).toContain('◆  Chain')
  await terminal.press('BTC-REGTEST')
  await expect.poll(screen).toMatch(/● .*BTC-REGTEST/)
  await terminal.press('Enter')
  await expect.poll(screen).toContain('◆  File to write')
  for (const _ of 'config.yml') await terminal.press('BSpace')
  await terminal.press(path)
  await expect.poll(async () => (await screen()).replaceAll(/\n(│ *)?/g, '')).toContain(path)
  await terminal.press('Enter')
  await expect.poll(screen).toContain('\nNext: ')

  const text = await readFile(path, 'utf8')
  expect(text).toContain('chain-id: BTC-REGTEST')
  expect(text).toContain('- url: "http://127.0.0.1:18443"')
  expect(text).toContain('- url: "https://btc.example.com/${KEY}"')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const written = { stdout: '', stderr: '' }
  const code = await main(['validate', path], {
    stdout: { write: (each: string) => (written.stdout += each) },
    stderr: { write: (each: string) => (written.stderr += each) },
    environment: { KEY: 'a-key' },
  })
  expect([code, written.stderr]).toEqual([0, ''])
})

test('a flag replaces its question, and Ctrl-C writes nothing', async () => {
  await using folder = await createFolder()
  const path = join(folder.path, 'left.yml')
  await using terminal = await Terminal.start([path, '--chain', 'ETH1'], { command: 'init' })
  const screen = () => terminal.screen()
  await expect.poll(screen).toContain('◆  URLs of your nodes')
  await terminal.press('C-c')
  await expect.poll(screen).toContain('router: error: nothing was written')
  expect(await readdir(folder.path)).toEqual([])
})
