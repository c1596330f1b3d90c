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
export type ReadPage = (address: string, path: string) => Promise<string>

const listed = 20

/** The replicas that a console is attached to. */
export class Replicas {
  readonly #read: ReadPage
  readonly #histories: ReadonlyMap<string, History>
  #calls: readonly FailedCall[] = []

  /** @param addresses `host:port` each */
  constructor(addresses: readonly string[], read: ReadPage) {
    this.#read = read
    this.#histories = new Map(addresses.map((each) => [each, new History(each)]))
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
      [...this.#histories].map(async ([address, history]) => {
        const failed = this.#read(address, `/explain?failed&limit=${listed}`).then(
          (text) => (JSON.parse(text) as { calls: readonly FailedCall[] }).calls,
        )
        const [facts, calls] = await Promise.allSettled([
          this.#read(address, '/facts').then((text) => JSON.parse(text) as Facts),
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
    const texts = [...this.#histories.keys()].map((address) => this.#read(address, path))
    return Promise.any(texts).catch((error: unknown) => {
      const [first] = (error as AggregateError).errors as unknown[]
      return `No replica explains ${guid}: ${wordsOf(first)}`
    })
  }
}

/** Reads over HTTP. */
export const readPage: ReadPage = async (address, path) => {
  const answer = await fetch(`http://${address}${path}`, { signal: AbortSignal.timeout(3_000) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`it answers ${path} with HTTP ${answer.status}: ${text.trim()}`)
  return text
}

function wordsOf(error: unknown): string {
  const { name, message, cause } = error as Error
  if (name === 'TimeoutError') return 'no answer within 3 s'
  const { code, message: why } = (cause ?? {}) as NodeJS.ErrnoException
  if (cause) return `no answer: ${code ?? why}`
  return name === 'SyntaxError' ? 'its answer is no JSON' : message
}
