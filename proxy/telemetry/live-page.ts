// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Clock } from '../clock/clock.ts'
import type { Facts } from '../console/facts.ts'
import { detailsOf, linesOf } from '../console/lines.ts'
import { type View, viewOf } from '../console/problems.ts'
import { type FailedCall, History } from '../console/replicas.ts'
import type { Logger } from './log.ts'

const everyMs = 1_000
/** Lines are not cut or wrapped here: browsers do that. */
const columns = 2_000

/** The page `/`, and what keeps it up to date: a frame a second to each that is open, and no work while none is. */
export type LivePage = ReturnType<typeof createLivePage>

/** @param name of this process, for people */
export function createLivePage(
  facts: () => Promise<Facts>,
  failedCalls: () => readonly FailedCall[],
  clock: Clock,
  name: string,
  logger: Pick<Logger, 'error'>,
) {
  const html = readFileSync(join(import.meta.dirname, 'router-page.html'), 'utf8')
  const hashOf = (tag: string) => {
    const [, text = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(html) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
  const streams = new Set<Writable>()
  let history: History | null = null

  const send = async (followed: History) => {
    followed.heard(await facts().catch(String))
    const event = `data: ${JSON.stringify(frameOf(viewOf([followed.look]), failedCalls()))}\n\n`
    // A slow reader gets the next one: nothing heaps up here.
    for (const each of streams) if (!each.writableNeedDrain) each.write(event)
    if (streams.size === 0) history = null
    else clock.after(everyMs, () => run(followed))
  }
  /** A frame that cannot be made ends the streams, never the router. Browsers ask again. */
  const run = (followed: History) => {
    send(followed).catch((error: unknown) => {
      logger.error('the page cannot be kept up to date', { error })
      for (const each of streams) each.end()
      streams.clear()
      history = null
    })
  }
  return {
    html,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      // Nothing is run or shown but what stands in the page itself.
      'content-security-policy':
        `default-src 'none'; script-src ${hashOf('script')}; style-src ${hashOf('style')}; ` +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    },
    /** How many pages are open. */
    get streams() {
      return streams.size
    },
    /** Sends frames as server-sent events until it is closed. */
    stream(stream: Writable) {
      stream.on('close', () => streams.delete(stream))
      streams.add(stream)
      if (history === null) run((history = new History(name)))
    },
  }
}

function frameOf(view: View, calls: readonly FailedCall[]) {
  const { replicas, seconds, problems, at: now } = view
  const [{ at, version }] = replicas as [View['replicas'][number]]
  return {
    head: `rpc-router ${version ?? ''} on ${at}, ${now.slice(11, 19)} UTC, rates of ${Math.round(seconds)} s`,
    problems: problems.length,
    lines: linesOf(view, calls, columns),
    details: [...detailsOf(view)],
  }
}
