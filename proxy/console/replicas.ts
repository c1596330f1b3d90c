// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { viewOf } from './differences.ts'
import type { Facts } from './facts.ts'
import { History } from './history.ts'
import type { View } from './view.ts'

/** Of what `/explain?failed` says about a call, what a list needs. */
export interface FailedCall {
  readonly guid: string
  /** ISO 8601. */
  readonly at: string
  readonly chain: string
  readonly interface: string
  readonly method: string | null
  readonly outcome: string
  readonly totalMs: number
}

/** Reads a page of a replica. @throws Error that says why it cannot be read */
export type ReadPage = (url: string) => Promise<string>

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
        const failed = this.#read(`${url}/explain?failed&limit=${listed}`).then(
          (text) => (JSON.parse(text) as { calls: readonly FailedCall[] }).calls,
        )
        const [facts, calls] = await Promise.allSettled([
          this.#read(`${url}/facts`).then((text) => JSON.parse(text) as Facts),
          failed,
        ])
        if (facts.status === 'fulfilled') history.answered(facts.value)
        else history.failed(wordsOf(facts.reason))
        return calls.status === 'fulfilled' ? calls.value : []
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
    const texts = [...this.#histories.keys()].map((url) => this.#read(url + path))
    return Promise.any(texts).catch((error: unknown) => {
      const [first] = (error as AggregateError).errors as unknown[]
      return `No replica explains ${guid}: ${wordsOf(first)}`
    })
  }
}

/** Reads over HTTP. */
export const readPage: ReadPage = async (url) => {
  const answer = await fetch(url, { signal: AbortSignal.timeout(3_000) })
  const text = await answer.text()
  if (!answer.ok)
    throw new Error(`it answers with HTTP ${answer.status}: ${text.slice(0, 300).trim()}`)
  return text
}

function wordsOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return 'no answer within 3 s'
  const { code, message: why } = (cause ?? {}) as NodeJS.ErrnoException
  if (cause) return `no answer: ${code ?? why}`
  return name === 'SyntaxError' ? 'its answer is no JSON' : message
}
