// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { extname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Browser } from '../console/browser.ts'

/* The site of the documentation, built by `make docs` and shown by a real browser. */

const root = join(import.meta.dirname, '../..')
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
const server = createServer(({ url = '/' }, answer) => {
  const { pathname } = new URL(url, 'http://site')
  const path = pathname.endsWith('/') ? `${pathname}index.html` : pathname
  const bytes = fileAt(join(root, 'dist/docs', path))
  const type = types[extname(path)] ?? 'application/octet-stream'
  answer.writeHead(bytes ? 200 : 404, { 'content-type': type }).end(bytes)
})

function fileAt(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

let browser: Browser
let site: string
beforeAll(async () => {
  execFileSync('make', ['docs'], { cwd: root, stdio: 'inherit' })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  browser = await Browser.start()
}, 600_000)
afterAll(async () => {
  await browser?.[Symbol.asyncDispose]()
  server.close().closeAllConnections()
})

const loaded = (path: string, heading: string) =>
  browser.open(site + path).then(() => expect.poll(() => browser.text('h1')).toContain(heading))

test('links lead to other pages, and anchors to their headings', async () => {
  await loaded('/docs/', 'Documentation')
  await browser.evaluate(`document.querySelector('main a[href$="quickstart.html"]').click()`)
  await expect.poll(() => browser.text('h1')).toContain('Quickstart')
  await loaded('/docs/reference/cli.html#router-doctor', 'Command line')
  const isNear = `Math.abs(document.querySelector('#router-doctor').getBoundingClientRect().top) < 400`
  await expect.poll(() => browser.evaluate(isNear)).toBe(true)
})

test('the search finds a page without a request to another host', async () => {
  await loaded('/', 'rpc-router')
  // The button works once the page has loaded its code.
  const isOpen = `document.querySelector('.VPNavBarSearch button').click(),
    Boolean(document.querySelector('.search-input'))`
  await expect.poll(() => browser.evaluate(isOpen)).toBe(true)
  await browser.evaluate(`{
    const input = document.querySelector('.search-input')
    input.value = 'cross-validation'
    input.dispatchEvent(new Event('input'))
  }`)
  await expect.poll(() => browser.text('.results')).toContain('Cross-validation')
  const elsewhere = browser.requested.filter((url) => !/^(?:data:|about:)/.test(url))
  expect(elsewhere.length).toBeGreaterThan(5)
  expect(elsewhere.filter((url) => !url.startsWith(site))).toEqual([])
})

test.each(['/', '/docs/', '/docs/quickstart.html', '/docs/reference/config.html'])(
  '%s fits into a window of 390 pixels',
  async (path) => {
    await browser.size(390, 844)
    await browser.open(site + path)
    await expect.poll(() => browser.text('h1')).not.toBe('')
    expect(await browser.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
  },
)

test('no page complains', () => {
  expect(browser.complaints).toEqual([])
})
