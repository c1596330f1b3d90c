// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Facts } from './facts.ts'
import { readPage } from './read-page.ts'
import { type Look, type View, viewOf } from './view.ts'

/** The replicas to which a console is attached. */
export class Replicas {
  /** Keyed by the base URL of a replica's pages. */
  readonly #looks: Map<string, Look>

  /** @param urls by the names of the replicas */
  constructor(urls: ReadonlyMap<string, string>) {
    const unknown = { facts: null, problem: null }
    this.#looks = new Map([...urls].map(([at, url]) => [url, { at, ...unknown }]))
  }

  get view(): View {
    return viewOf([...this.#looks.values()])
  }

  /** Polls all replicas once. Never rejects: a silent replica becomes a problem in the view. */
  async ask(): Promise<void> {
    const pending = [...this.#looks].map(async ([url, look]) => {
      const { text, fault } = await readPage(`${url}/facts`)
      this.#looks.set(url, { ...look, ...(text === null ? { problem: fault } : read(text)) })
    })
    await Promise.all(pending)
  }

  /** The explanation of a call, from the replica that has it. */
  async explain(guid: string): Promise<string> {
    const path = `/explain/${encodeURIComponent(guid)}?format=text`
    const pages = await Promise.all([...this.#looks.keys()].map((url) => readPage(url + path)))
    const known = pages.find(({ text }) => text !== null)
    return known?.text ?? `No replica explains ${guid}: ${pages[0]?.fault}`
  }
}

function read(text: string): Partial<Look> {
  try {
    const facts = JSON.parse(text) as Facts | null
    if (!Array.isArray(facts?.chains)) throw new Error('it names no chains')
    if (!facts.minute) throw new Error('it is of another version')
    return { facts, problem: null }
  } catch (error) {
    return { problem: `its /facts is not that of a router: ${(error as Error).message}` }
  }
}
