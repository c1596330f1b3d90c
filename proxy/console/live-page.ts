// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, sleep } from '../clock/clock.ts'
import type { Facts } from './facts.ts'
import { detailsOf, linesOf } from './lines.ts'
import { looksOf, type WorkersFacts } from './replicas.ts'
import { viewOf } from './view.ts'

const everyMs = 1_000
/** Browsers wrap lines, so they are not truncated here. */
const columns = 2_000

/** The page `/` and its updates. @param name of this machine, for readers */
export function createLivePage(
  facts: () => Promise<Facts | WorkersFacts>,
  clock: Clock,
  name: string,
) {
  const html = readFileSync(join(import.meta.dirname, 'router-page.html'), 'utf8')
  const hashOf = (tag: string) => {
    const [, text = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  const make = async () => {
    const view = viewOf(looksOf(name, await facts()))
    const { at, seconds, problems } = view
    return JSON.stringify({
      head: `rpc-router on ${name}, ${at.slice(11, 19)} UTC, rates of ${Math.round(seconds)} s`,
      problems: problems.length,
      lines: linesOf(view, columns),
      details: [...detailsOf(view)],
    })
  }
  let last = { frame: Promise.resolve(''), untilMs: -Infinity }
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      // Allows only the page's inline content.
      'content-security-policy':
        `default-src 'none'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    /** Server-sent events for one page, once a second until it closes. All pages share the work. */
    async *events() {
      for (; ; await sleep(clock, everyMs)) {
        const nowMs = clock.nowMs()
        // Timers may fire slightly early.
        if (nowMs >= last.untilMs) last = { frame: make(), untilMs: nowMs + everyMs / 2 }
        yield `data: ${await last.frame}\n\n`
      }
    },
  }
}
