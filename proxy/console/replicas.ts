// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Look } from './differences.ts'
import type { Facts } from './facts.ts'
import { type View, viewOf } from './problems.ts'
import { isAdmin, type ReadPage } from './read-page.ts'

/** Of what `/explain?failed` says about a call, what a list needs. */
export interface FailedCall {
  readonly guid: string
  /** When it began, ISO 8601. */
  readonly at: string
  readonly chain: string
  readonly interface: string
  /** Null: it was refused before it became a call. */
  readonly method: string | null
  /** As the label of `router_requests_total`. */
  readonly outcome: string
  readonly totalMs: number
  /** The router's own error; null where the upstream's answer was passed on. */
  readonly error: string | null
  readonly attempts: readonly { readonly upstream: string; readonly result: string }[]
}

const listed = 20
/** Rates are of so much time: short enough to follow an outage, long enough for a quiet chain. */
const windowMs = 30_000

/** The last facts of one replica, as far back as rates are taken from. */
export class History {
  readonly #at: string
  #past: Facts[] = []
  #problem: string | null = null

  /** @param at its address, as the reader has it */
  constructor(at: string) {
    this.#at = at
  }

  /** @param facts or why there are none, as a clause */
  heard(facts: Facts | string): void {
    this.#problem = typeof facts === 'string' ? facts : null
    if (typeof facts === 'string') return
    const fromMs = Date.parse(facts.at) - windowMs
    // The last one from before the time is where it begins.
    const first = this.#past.findLastIndex(({ at }) => Date.parse(at) <= fromMs)
    this.#past = [...this.#past.slice(Math.max(first, 0)), facts]
  }

  get look(): Look {
    const { 0: first = null, length } = this.#past
    const now = this.#problem === null ? (this.#past.at(-1) ?? null) : null
    // What a process has counted since long before the first look says nothing of the present.
    const isYoung = first && Date.parse(first.at) - Date.parse(first.started) <= windowMs
    const before = now && !(length === 1 && isYoung) ? first : null
    return { at: this.#at, before, now, problem: this.#problem }
  }
}

/** The replicas that a console or a page is attached to. */
export class Replicas {
  readonly #read: ReadPage
  /** By the URL that its pages are below. */
  readonly #histories: ReadonlyMap<string, History>
  /** The last failed calls of all of them, the newest first. Empty where they keep none. */
  calls: readonly FailedCall[] = []

  /** @param urls by the names of the replicas */
  constructor(urls: ReadonlyMap<string, string>, read: ReadPage) {
    this.#read = read
    this.#histories = new Map([...urls].map(([name, url]) => [url, new History(name)]))
  }

  get view(): View {
    return viewOf([...this.#histories.values()].map(({ look }) => look))
  }

  /** Asks all of them once. Never rejects: one that does not answer is a problem of the view. */
  async ask(): Promise<void> {
    const lists = await Promise.all(
      [...this.#histories].map(async ([url, history]) => {
        const [facts, failed] = await Promise.all([
          this.#readJson<Facts>(`${url}/facts`, 'chains'),
          this.#readJson<{ calls: readonly FailedCall[] }>(
            `${url}/explain?failed&limit=${listed}`,
            'calls',
          ),
        ])
        history.heard(facts)
        return typeof failed === 'string' ? [] : failed.calls
      }),
    )
    this.calls = lists
      .flat()
      .toSorted((a, b) => (a.at < b.at ? 1 : -1))
      .slice(0, listed)
  }

  /** The text that explains a call, of the replica that knows it. */
  async explain(guid: string): Promise<string> {
    const path = `/explain/${encodeURIComponent(guid)}?format=text`
    const pages = await Promise.all(
      [...this.#histories.keys()].map((url) => this.#read(url + path)),
    )
    const known = pages.find(({ text }) => text !== null)
    return known?.text ?? `No replica explains ${guid}: ${pages[0]?.fault}`
  }

  /** @param list what such a page has. @returns why not, as a text */
  async #readJson<T extends object>(url: string, list: keyof T & string): Promise<T | string> {
    const { text, fault } = await this.#read(url)
    if (text === null) return fault
    const other = `${isAdmin} without ${list}`
    try {
      const read = JSON.parse(text) as T
      return Array.isArray(read[list]) ? read : other
    } catch {
      return other
    }
  }
}
