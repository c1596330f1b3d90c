// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { performance } from 'node:perf_hooks'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import { clientFiles, openFiles } from '../bytes/open-files.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { Resources } from './resources.ts'
import { gcSeconds, turnedMs } from './gauges.ts'

const everyMs = 2_000
/** Listing the open files takes a microsecond for each. */
const filesEveryMs = 30_000
/** Number of samples to compare, so that a short peak does not count as a strain. */
const samples = 6
/** Shares of the time, or of the limit, from which the router is short of a resource. */
const strained = { busy: 0.95, stalled: 0.5, collecting: 0.2, files: 0.9, bytes: 0.9 } as const

/** Times since the start of the process. */
interface Times {
  readonly busyMs: number
  readonly turnedMs: number
  readonly gcMs: number
}

const readProcess = (): Times => {
  const { active: busyMs } = performance.eventLoopUtilization()
  return { busyMs, turnedMs: turnedMs(), gcMs: gcSeconds() * 1_000 }
}

/** Samples the load of the process, and reports resources that are nearly exhausted. */
export class Load {
  readonly #clock: Clock
  readonly #resources: Pick<Resources, 'strained'>
  readonly #budget: Pick<ByteBudget, 'heldBytes' | 'maxBytes'>
  readonly #read: () => Times
  #past: readonly (Times & { readonly atMs: number })[] = []
  #cancel: Cancel = () => {}
  #files = { open: null as number | null, atMs: -Infinity }

  constructor(
    clock: Clock,
    resources: Pick<Resources, 'strained'>,
    budget: Pick<ByteBudget, 'heldBytes' | 'maxBytes'>,
    read = readProcess,
  ) {
    this.#clock = clock
    this.#resources = resources
    this.#budget = budget
    this.#read = read
  }

  /** Samples until `stop`. */
  start(): void {
    this.#cancel = this.#clock.after(everyMs, () => {
      this.#past = [...this.#past, { ...this.#read(), atMs: this.#clock.nowMs() }].slice(-samples)
      this.#report()
      this.start()
    })
  }

  stop(): void {
    this.#cancel()
  }

  #report(): void {
    const [first] = this.#past
    const last = this.#past.at(-1)
    const isWhole = this.#past.length === samples
    if (isWhole && first && last) {
      const share = (of: keyof Times) => (last[of] - first[of]) / (last.atMs - first.atMs)
      const [busy, stalled, collecting] = [share('busyMs'), 1 - share('turnedMs'), share('gcMs')]
      if (busy >= strained.busy || stalled >= strained.stalled) {
        const how = `its event loop was busy ${percentOf(busy)} and stalled ${percentOf(stalled)}`
        this.#resources.strained('cpu', `${how} of the time`)
      }
      if (collecting >= strained.collecting)
        this.#resources.strained('memory', `garbage collection took ${percentOf(collecting)}`)
    }
    const { heldBytes, maxBytes } = this.#budget
    if (heldBytes >= strained.bytes * maxBytes)
      this.#resources.strained('buffered-bytes', `${heldBytes} of ${maxBytes} are in use`)
    const nowMs = this.#clock.nowMs()
    if (nowMs - this.#files.atMs >= filesEveryMs) this.#files = { open: openFiles(), atMs: nowMs }
    const { open } = this.#files
    const most = clientFiles()
    if (open !== null && most !== null && open >= strained.files * most)
      this.#resources.strained('files', `${open} are open, clients may take ${most}`)
  }
}

function percentOf(share: number): string {
  return `${Math.round(Math.max(0, share) * 100)} %`
}
