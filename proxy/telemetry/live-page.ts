// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock/clock.ts'
import { viewOf } from '../console/differences.ts'
import type { Facts } from '../console/facts.ts'
import { ageBetween } from '../console/format.ts'
import { History } from '../console/history.ts'
import { heads, rowsOf } from '../console/rows.ts'
import type { Logger } from './log.ts'

const everyMs = 1_000

/** An answer that goes on; `ServerResponse` is one. */
export interface Stream {
  write(text: string): unknown
  end(): unknown
  /** Its reader does not keep up. */
  readonly writableNeedDrain: boolean
  on(event: 'close', listener: () => void): unknown
}

/** The page `/`, and what keeps it up to date: a view a second to each that is open, and no work while none is. */
export class LivePage {
  readonly html: string
  readonly headers: Readonly<Record<string, string>>
  readonly #facts: () => Promise<Facts>
  readonly #clock: Clock
  readonly #name: string
  readonly #logger: Pick<Logger, 'error'>
  readonly #streams = new Set<Stream>()
  #history: History | null = null

  /** @param name of this process, for people */
  constructor(
    facts: () => Promise<Facts>,
    clock: Clock,
    name: string,
    logger: Pick<Logger, 'error'>,
  ) {
    this.#facts = facts
    this.#clock = clock
    this.#name = name
    this.#logger = logger
    this.html = readFileSync(join(import.meta.dirname, 'router-page.html'), 'utf8')
    this.headers = {
      'content-type': 'text/html; charset=utf-8',
      // Nothing is run or shown but what stands in the page itself.
      'content-security-policy': [
        "default-src 'none'",
        `script-src ${this.#hashOf('script')}`,
        `style-src ${this.#hashOf('style')}`,
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    }
  }

  /** How many pages are open. */
  get streams(): number {
    return this.#streams.size
  }

  /** Sends views as server-sent events until it is closed. */
  stream(stream: Stream): void {
    stream.on('close', () => this.#streams.delete(stream))
    this.#streams.add(stream)
    if (this.#history) return
    this.#history = new History(this.#name)
    this.#run(this.#history)
  }

  /** A view that cannot be made ends the streams, never the router. Browsers ask again. */
  #run(history: History): void {
    this.#send(history).catch((error: unknown) => {
      this.#logger.error('the page cannot be kept up to date', { error })
      for (const each of this.#streams) each.end()
      this.#streams.clear()
      this.#history = null
    })
  }

  async #send(history: History): Promise<void> {
    const facts = await this.#facts().catch((error: unknown) => String(error))
    if (typeof facts === 'string') history.failed(facts)
    else history.answered(facts)
    const view = viewOf([history.look])
    const problems = view.problems.map((each) => {
      return { ...each, age: each.since && ageBetween(each.since, view.at) }
    })
    const rows = rowsOf(view, 'state')
    const event = `data: ${JSON.stringify({ ...view, problems, heads, rows })}\n\n`
    // A slow reader gets the next one: nothing heaps up here.
    for (const each of this.#streams) if (!each.writableNeedDrain) each.write(event)
    if (this.#streams.size === 0) this.#history = null
    else this.#clock.after(everyMs, () => this.#run(history))
  }

  #hashOf(tag: string): string {
    const [, text = ''] = new RegExp(`<${tag}>(.*?)</${tag}>`, 's').exec(this.html) ?? []
    return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  }
}
