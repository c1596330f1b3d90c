// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { at, someChain, someUpstream, took } from '../../proxy/console/facts.fixture.ts'
import { ScriptedReplica } from './scripted-replica.ts'
import { Terminal } from './terminal.ts'

const disabled = { state: 'disabled', why: 'connection-refused', since: at(40), until: at(900) }
const nodes = [someUpstream('node-a'), someUpstream('node-b', disabled)]
const eth = someChain(nodes, { outcomes: { success: 100 }, durations: took(100) })
const call = {
  ...{ guid: '940bc41a-8302-4fbd-9885-fea133588923', at: at(95), chain: 'ETH1' },
  ...{ interface: 'jsonrpc', method: 'eth_getLogs', outcome: 'timeout', totalMs: 30_000 },
  why: '',
}
const escape = '\u001b'

test('at 80x24 the bad node is first, and every key of router top works', async () => {
  await using replica = await ScriptedReplica.start([eth])
  replica.calls = [call]
  await using terminal = await Terminal.start(['--at', replica.address])
  const screen = () => terminal.screen()
  await expect.poll(screen).toMatch(/^ router top .*1 of 1 replica answers.*\n>BAD {2}node-b /)
  const lines = (await screen()).split('\n')
  expect(lines).toHaveLength(25)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  expect(await screen()).toMatch(/\n {2}node-b +disabled .*\n {2}node-a +eligible /)
  expect(await screen()).toContain('940bc41a timeout')

  await terminal.press('Enter')
  await expect.poll(screen).toContain('Reason      connection-refused')
  await terminal.press('Escape')
  await expect.poll(screen).toContain('>BAD  node-b')
  await terminal.press('j', 'j', 'j')
  await expect.poll(screen).toMatch(/>03:01:35 940bc41a/)
  await terminal.press('Enter')
  await expect.poll(screen).toContain(`why ${call.guid}:\n node-b was asked first`)
  await terminal.press('q')
  await terminal.press('/')
  await terminal.press('node-a')
  await expect.poll(screen).toContain('filter: node-a_')
  await terminal.press('Enter')
  await expect.poll(screen).not.toMatch(/\n. node-b +disabled/)
  await terminal.press('Escape')
  await expect.poll(screen).not.toContain('filter:')
  await terminal.press('s')
  await expect.poll(screen).toContain('sort: name')
  await expect.poll(screen).toMatch(/ node-a +eligible.*\n. node-b +disabled/)

  await terminal.press('Space')
  await expect.poll(screen).toContain('PAUSED')
  replica.chains = [someChain([someUpstream('node-a'), someUpstream('node-b')])]
  await terminal.press('k')
  expect(await screen()).toContain('BAD  node-b')
  await terminal.press('Space')
  await expect.poll(screen).toContain('Nothing is wrong')
  await terminal.press('q')
  // The previous screen is restored.
  await expect.poll(screen).not.toContain('router top')
})

test('with more lines than rows it draws at most four times a second, without a clear', async () => {
  const many = Array.from({ length: 30 }, (_, n) => ({ ...eth, name: `CHAIN${n} jsonrpc` }))
  await using replica = await ScriptedReplica.start(many)
  await using terminal = await Terminal.start(['--at', replica.address], {
    environment: 'NO_COLOR=1',
  })
  const screen = () => terminal.screen()
  await expect.poll(screen).toContain('more lines below')
  const before = (await terminal.written()).length
  const head = async () => (await screen()).split('\n')[0]
  const first = await head()
  await expect.poll(head).not.toBe(first)
  const second = await head()
  await expect.poll(head).not.toBe(second)
  const written = (await terminal.written()).slice(before)
  // Two seconds of output rewrite some cells. They erase neither the screen nor the scrollback.
  expect(written).not.toContain(`${escape}[2J`)
  expect(written).not.toContain(`${escape}[3J`)
  expect(written.length).toBeLessThan(30_000)
  // NO_COLOR disables foreground and background colours.
  const colour = new RegExp(`${escape}\\[(?:[0-9]+;)*(?:3[0-7]|4[0-7]|9[0-7])m`)
  expect(await terminal.written()).not.toMatch(colour)

  for (let key = 0; key < 40; key++) await terminal.press('j')
  await expect.poll(screen).toMatch(/\n>/)
  await terminal.press('PageUp')
  await terminal.resize(120, 30)
  // Sends all keys at once, as over a slow connection.
  await terminal.press('/', 'CHAIN7', 'Enter')
  await expect.poll(screen).toMatch(/filter: CHAIN7 [^]*RETRY.*\n CHAIN7 jsonrpc.*\n {2}node-b/)
  expect((await screen()).split('\n')).toHaveLength(31)
})

test('a replica that stops answering comes first, and the others remain visible', async () => {
  await using replica = await ScriptedReplica.start([eth])
  const gone = await ScriptedReplica.start([eth])
  const { address } = gone
  await using terminal = await Terminal.start(['--at', `${replica.address},${address}`])
  const screen = () => terminal.screen()
  await expect.poll(screen).toContain('2 of 2 replicas answer')
  await expect.poll(screen).toContain('No failed calls recorded.')
  await gone[Symbol.asyncDispose]()
  await expect.poll(screen).toContain('1 of 2 replicas answer')
  await expect
    .poll(screen)
    .toMatch(new RegExp(`^.*\\n.DOWN ${address}: the admin address is not on`))
})
