// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Facts } from './facts.ts'
import { readPage } from './read-page.ts'
import { type Look, type View, viewOf } from './view.ts'

/** `/facts` of a router with several workers. */
export interface WorkersFacts {
  readonly workers: readonly {
    readonly worker: number
    /** Null if it does not answer. */
    readonly facts: Facts | null
    /** Since when it answers no ping of its supervisor, in ISO 8601; null while it does. */
    readonly silentSince: string | null
  }[]
}

/** What each process of a router reports. @param at name of the replica */
export function looksOf(at: string, page: Facts | WorkersFacts): readonly Look[] {
  if (!('workers' in page)) return [{ at, facts: page, problem: null }]
  return page.workers.map(({ worker, facts, silentSince }) => {
    const fate = silentSince ? '; its clients wait until it is killed and replaced, after 10 s' : ''
    const problem = facts ? null : `it does not answer its supervisor${fate}`
    return { at: `${at} worker ${worker}`, facts, problem, since: silentSince }
  })
}

/** The replicas to which a console is attached. */
export class Replicas {
  readonly #names: ReadonlyMap<string, string>
  /** One look per process of a replica, keyed by the base URL of its pages. */
  readonly #looks: Map<string, readonly Look[]>

  /** @param urls by the names of the replicas */
  constructor(urls: ReadonlyMap<string, string>) {
    this.#names = new Map([...urls].map(([at, url]) => [url, at]))
    this.#looks = new Map([...urls].map(([at, url]) => [url, [{ at, facts: null, problem: null }]]))
  }

  get view(): View {
    return viewOf([...this.#looks.values()].flat())
  }

  /** Polls all replicas once. Never rejects: a silent replica becomes a problem in the view. */
  async ask(): Promise<void> {
    const pending = [...this.#names].map(async ([url, at]) => {
      const { text, fault } = await readPage(`${url}/facts`)
      const looks = this.#looks.get(url) ?? []
      this.#looks.set(url, text === null ? failed(looks, fault) : read(at, looks, text))
    })
    await Promise.all(pending)
  }

  /** The explanation of a call, from the replica that has it. */
  async explain(guid: string): Promise<string> {
    const path = `/explain/${encodeURIComponent(guid)}?format=text`
    const pages = await Promise.all([...this.#names.keys()].map((url) => readPage(url + path)))
    const known = pages.find(({ text }) => text !== null)
    return known?.text ?? `No replica explains ${guid}: ${pages[0]?.fault}`
  }
}

function failed(looks: readonly Look[], problem: string | null): readonly Look[] {
  return looks.map((look) => ({ ...look, problem }))
}

/** @param at name of the replica @returns one look, or one per worker */
function read(at: string, looks: readonly Look[], text: string): readonly Look[] {
  try {
    const page = JSON.parse(text) as Facts | WorkersFacts | null
    const looks = page && looksOf(at, page)
    for (const { facts, problem } of looks ?? []) if (problem === null) check(facts)
    if (looks === null || looks.length === 0) throw new Error('it names no chains')
    return looks
  } catch (error) {
    return failed(looks, `its /facts is not that of a router: ${(error as Error).message}`)
  }
}

function check(facts: Facts | null): void {
  if (!Array.isArray(facts?.chains)) throw new Error('it names no chains')
  if (!facts.minute || !Array.isArray(facts.methods)) throw new Error('it is of another version')
}
