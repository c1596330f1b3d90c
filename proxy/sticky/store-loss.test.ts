// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { sleep } from '../clock/clock.ts'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { FakeKeys } from '../store/testing/fake-keys.ts'
import { StoreError } from '../store/store-error.ts'
import { Sessions } from './sessions.ts'

/*
 * A fleet in virtual time loses the data of its store at random moments. Each session has a client
 * that sends requests one by one, each to any replica. It checks the invariant of `Sessions`.
 */

const nodes = ['a', 'b', 'c']
const runMs = 120_000
/** A connection recovers within this time, and lasts at least as long. */
const gapMs = 2_000

interface Member {
  readonly keys: FakeKeys
  readonly sessions: Sessions
  steadyMs: number
}

class Simulation {
  readonly #random
  readonly #clock = new VirtualClock()
  readonly #store = new FakeKeys(this.#clock)
  readonly #replicas: Member[] = []
  readonly moved: string[] = []
  readonly counts = { served: 0, refused: 0, failed: 0, losses: 0, noticed: 0 }
  #copy = this.#store.copy

  readonly #isOld

  /** @param isOld a restarted store has an old copy of its data; any refusal is then a failure */
  constructor(seed: number, isOld: boolean) {
    this.#random = seededRandom(seed)
    this.#isOld = isOld
    for (let each = 0; each < 3; each++) this.#addReplica()
  }

  async run(): Promise<void> {
    for (let each = 0; each < 8; each++) void this.#client(`session ${each}`)
    void this.#chaos()
    await this.#clock.advance(runMs)
  }

  #upTo(max: number): number {
    return Math.floor(this.#random.next() * max)
  }

  #addReplica(): void {
    const keys = Object.assign(this.#store.another(), { delayMs: () => 1 + this.#upTo(20) })
    const sessions = new Sessions({
      ...{ clock: this.#clock, keys, lifetimeMs: 2 * runMs, count: () => {} },
      storeLost: () => (this.counts.noticed += 1),
    })
    this.#replicas.push({ keys, sessions, steadyMs: 0 })
  }

  async #client(key: string): Promise<void> {
    let [last, isFailed]: [string | null, boolean] = [null, false]
    for (;;) {
      await sleep(this.#clock, 10 + this.#upTo(1_000))
      const { sessions } = this.#replicas[this.#upTo(this.#replicas.length)]!
      const free = (avoid: string | null) => nodes.filter((each) => each !== avoid)
      const choose = (avoid: string | null) => free(avoid)[this.#upTo(free(avoid).length)] ?? null
      const node = await Promise.resolve(sessions.find(key, choose)).catch(refusal)
      if (node === null) {
        this.counts.refused += 1
        isFailed ||= this.#isOld
        continue
      }
      if (last !== null && node !== last && !isFailed)
        this.moved.push(`${key}: ${last} to ${node} at ${this.#clock.nowMs()} ms`)
      ;[last, isFailed] = [node, this.#upTo(10) === 0]
      this.counts[isFailed ? 'failed' : 'served'] += 1
      if (isFailed) await sessions.drop(key, node).catch(refusal)
    }
  }

  async #chaos(): Promise<void> {
    for (;;) {
      await sleep(this.#clock, this.#upTo(6_000))
      const what = this.#upTo(6)
      if (what === 0) this.#copy = this.#store.copy
      else if (what === 1 && this.#replicas.length < 5) this.#addReplica()
      else if (what < 4) this.#break([this.#replicas[this.#upTo(this.#replicas.length)]!])
      else {
        this.counts.losses += 1
        const isRestart = this.#upTo(3) > 0
        if (isRestart) this.#break(this.#replicas)
        this.#store.forget(isRestart && this.#isOld ? this.#copy : undefined)
      }
    }
  }

  #break(replicas: readonly Member[]): void {
    for (const replica of replicas) {
      const { keys, steadyMs } = replica
      if (this.#clock.nowMs() < steadyMs && replicas.length === 1) continue
      keys.connect(false)
      const downMs = this.#upTo(gapMs)
      replica.steadyMs = this.#clock.nowMs() + downMs + gapMs
      this.#clock.after(downMs, () => keys.connect(true))
    }
  }
}

function refusal(error: unknown): null {
  if (!(error instanceof StoreError)) throw error
  return null
}

test('whenever the store loses its data, no session moves unless a node failed it', async () => {
  const total = { served: 0, refused: 0, failed: 0, losses: 0, noticed: 0 }
  for (let seed = 0; seed < 60; seed++) {
    const simulation = new Simulation(seed, seed % 4 === 0)
    await simulation.run()
    expect(simulation.moved, `seed ${seed}`).toEqual([])
    for (const key of Object.keys(total) as (keyof typeof total)[])
      total[key] += simulation.counts[key]
  }
  expect(total.losses).toBeGreaterThan(500)
  expect(total.noticed).toBeGreaterThan(total.losses)
  for (const count of [total.served, total.refused, total.failed])
    expect(count).toBeGreaterThan(1_000)
})
