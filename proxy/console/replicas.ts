// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { viewOf } from './differences.ts'
import type { Facts } from './facts.ts'
import { History } from './history.ts'
import type { ReadPage } from './read-page.ts'
import type { View } from './view.ts'

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
}

const listed = 20

/** The replicas that a console is attached to. */
export class Replicas {
  readonly #read: ReadPage
  /** By the URL that its pages are below. */
  readonly #histories: ReadonlyMap<string, History>
  #calls: readonly FailedCall[] = []

  /** @param urls by the names of the replicas */
  constructor(urls: ReadonlyMap<string, string>, read: ReadPage) {
    this.#read = read
    this.#histories = new Map([...urls].map(([name, url]) => [url, new History(name)]))
  }

  /** The last failed calls of all of them, the newest first. Empty where they keep none. */
  get calls(): readonly FailedCall[] {
    return this.#calls
  }

  get view(): View {
    return viewOf([...this.#histories.values()].map(({ look }) => look))
  }

  /** Asks all of them once. Never rejects: one that does not answer is a problem of the view. */
  async ask(): Promise<void> {
    const lists = await Promise.all(
      [...this.#histories].map(async ([url, history]) => {
        const [facts, failed] = await Promise.all([
          this.#readJson<Facts>(`${url}/facts`),
          this.#readJson<{ calls: readonly FailedCall[] }>(`${url}/explain?failed&limit=${listed}`),
        ])
        if (typeof facts === 'string') history.failed(facts)
        else history.answered(facts)
        return typeof failed === 'string' ? [] : failed.calls
      }),
    )
    this.#calls = lists
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

  /** @returns why not, as a text */
  async #readJson<T extends object>(url: string): Promise<T | string> {
    const { text, fault } = await this.#read(url)
    if (text === null) return fault
    try {
      return JSON.parse(text) as T
    } catch {
      return 'its answer is no JSON'
    }
  }
}
