// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { at, someChain, someUpstream } from '../../proxy/console/facts.fixture.ts'
import { Browser } from './browser.ts'
import { ScriptedReplica } from './scripted-replica.ts'

/** A name from a config, a node or a client that a vulnerable page would execute. */
const hostile = `<img src=x onerror="document.title='run'">`
const disabled = { state: 'disabled', why: `refused ${hostile}`, since: at(40), until: at(900) }
const eth = someChain([someUpstream('node-a'), someUpstream(hostile, disabled)], {
  outcomes: { success: 90, timeout: 10 },
})
const call = {
  ...{ guid: '940bc41a-8302-4fbd-9885-fea133588923', at: at(95), chain: 'ETH1' },
  ...{ interface: 'jsonrpc', method: `eth_it's`, outcome: 'timeout', totalMs: 30_000 },
  why: hostile,
}

let browser: Browser
beforeAll(async () => {
  browser = await Browser.start()
})
beforeEach(async () => {
  // The page of the previous test complains that its replica is gone.
  await browser.open('about:blank')
  browser.complaints.length = 0
})
afterAll(() => browser[Symbol.asyncDispose]())

/** Presses the first visible button with this label, on the first line that contains `line`. */
const press = (label: string, line = '') =>
  browser.evaluate(
    `[...document.querySelectorAll('button')].find((each) => !each.hidden && each.textContent === ${JSON.stringify(label)} && each.parentElement.textContent.includes(${JSON.stringify(line)})).click()`,
  )

test('the page shows the bad node, the reason and the time, and follows changes', async () => {
  await using replica = await ScriptedReplica.start([eth])
  replica.calls = [call]
  await browser.open(`http://${replica.address}/`)
  const lines = () => browser.text('#lines')
  await expect.poll(lines).toMatch(/^BAD  ETH1 jsonrpc: 10 % of calls fail: timeout 10Runbook\n/)
  expect(await lines()).toContain(`${hostile} (ETH1 jsonrpc) since 03:00:40 (`)
  expect(await lines()).toMatch(/\n <img src=x onerror=\S+ +disabled .*\n node-a +eligible /)
  expect(await browser.evaluate('document.title')).toBe('(2) rpc-router')
  expect(await lines()).toContain(`timeout            30s ETH1 jsonrpc eth_it's: ${hostile}`)

  await press('Why', hostile)
  await expect.poll(() => browser.text('#text')).toContain(`Reason      refused ${hostile}`)
  await press('Close')
  await press('Why', call.guid)
  await expect.poll(() => browser.text('#text')).toBe(`why ${call.guid}:\nnode-b was asked first`)
  await press('Close')
  // A page over plain HTTP has no clipboard access, so it shows the text instead.
  await browser.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('none'))`)
  await press('Copy curl')
  await expect
    .poll(() => browser.text('#text'))
    .toBe(
      `curl -si 'http://127.0.0.1:3360' -H 'content-type: application/json' ` +
        `-d '{"jsonrpc":"2.0","id":1,"method":"eth_it'\\''s","params":[]}'`,
    )
  await press('Close')

  await press('Pause')
  replica.chains = [someChain([someUpstream('node-a')])]
  await expect.poll(() => browser.text('#state')).toBe('paused')
  expect(await lines()).toContain('disabled')
  await press('Resume')
  await expect.poll(lines).toContain('Nothing is wrong')
  await browser.evaluate(
    `document.querySelector('#filter').value = 'other'; document.querySelector('#filter').dispatchEvent(new Event('input'))`,
  )
  expect(await lines()).not.toContain('node-a')
  expect(await browser.evaluate(`document.querySelectorAll('img').length`)).toBe(0)
  expect(browser.complaints).toEqual([])
})

test('a REST curl has placeholders, and calls without a curl have no button', async () => {
  await using replica = await ScriptedReplica.start([eth])
  const ofRest = { ...call, interface: 'rest', chain: 'HUBCHAIN' }
  const path = '/sdk/bank/v1beta1/balances/{address}'
  replica.calls = [
    { ...ofRest, method: path },
    { ...ofRest, method: 'other' },
    { ...call, method: 'other' },
    { ...ofRest, interface: 'grpc', method: 'cosmos.bank.v1beta1.Query/Balance' },
    { ...call, method: null },
  ]
  await browser.open(`http://${replica.address}/`)
  const count = `[...document.querySelectorAll('button')].filter((each) => !each.hidden && each.textContent === 'Copy curl').length`
  await expect.poll(() => browser.evaluate(count)).toBe(1)
  await browser.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('none'))`)
  await press('Copy curl')
  await expect
    .poll(() => browser.text('#text'))
    .toBe(`curl -gsi -X '{GET or POST}' 'http://127.0.0.1:3360${path}'`)
})

test('the page follows the colour scheme, and marks stale data', async () => {
  await using replica = await ScriptedReplica.start([eth])
  await browser.scheme('dark')
  await browser.open(`http://${replica.address}/`)
  await expect.poll(() => browser.text('#state')).toBe('live')
  await expect.poll(() => browser.text('#lines')).toContain('No failed calls recorded.')
  const colour = `getComputedStyle(document.documentElement).backgroundColor`
  expect(await browser.evaluate(colour)).toBe('rgb(21, 24, 28)')
  await browser.scheme('light')
  expect(await browser.evaluate(colour)).toBe('rgb(255, 255, 255)')
  await replica[Symbol.asyncDispose]()
  await expect
    .poll(() => browser.text('#state'))
    .toMatch(/^no answer for \d+ s: what you see is old/)
})

test('the content security policy of the page blocks injected code', async () => {
  await using replica = await ScriptedReplica.start([eth])
  await browser.open(`http://${replica.address}/`)
  await expect.poll(() => browser.text('#state')).toBe('live')
  const insert = `document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = "run"' }))`
  await browser.evaluate(insert)
  await expect.poll(() => browser.complaints.join()).toContain('Content Security Policy')
  expect(await browser.evaluate('document.title')).not.toBe('run')
})

test('at 390 px the table becomes words, nothing is cut, and problems link to runbooks', async () => {
  await using replica = await ScriptedReplica.start([eth])
  replica.calls = [call]
  await browser.width(390)
  await browser.open(`http://${replica.address}/`)
  const lines = () => browser.text('#lines')
  const width = () => browser.evaluate(`document.documentElement.scrollWidth`)
  await expect.poll(lines).toContain('node-a · state eligible · ')
  expect(await lines()).toContain('ETH1 jsonrpc · serving 1/2 · rate/s 1.0 · err 10% · ')
  expect(await lines()).not.toMatch(/UPSTREAM|hedges|retry/)
  expect(await width()).toBeLessThanOrEqual(390)
  const heights = `['head', 'filter', 'pause'].map((id) => document.getElementById(id).offsetHeight)`
  for (const height of await browser.evaluate<number[]>(heights)) expect(height).toBeLessThan(60)
  const links = `[...document.querySelectorAll('#lines a')].filter((each) => !each.hidden).map((each) => each.href.split('/').at(-1))`
  expect(await browser.evaluate(links)).toEqual(['error-ratio-high.md', 'upstream-disabled.md'])
  await press('Why', hostile)
  await expect.poll(() => browser.text('#text')).toContain('State       disabled for')
  expect(await browser.evaluate(`document.querySelector('#text a').href`)).toMatch(
    /\/upstream-disabled\.md$/,
  )
  expect(await width()).toBeLessThanOrEqual(390)
  await press('Close')
  await browser.width(null)
  expect(browser.complaints).toEqual([])
})
