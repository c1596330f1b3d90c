// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { performance } from 'node:perf_hooks'
import type { ByteBudget } from '../bytes/byte-budget.ts'
import type { Cancel, Clock } from '../clock/clock.ts'
import type { Resources } from './resources.ts'
import { gcSeconds, maxFiles, openFiles } from './gauges.ts'

const everyMs = 2_000
/** Number of samples to compare, so that a short peak is no strain. */
const samples = 6
/** Shares of the limit, or of the time, from which the router is short of a resource. */
const strained = { lateMs: 100, busy: 0.95, collecting: 0.2, files: 0.9, bytes: 0.9 } as const

interface Reading {
  readonly lateMs: number
  readonly atMs: number
  readonly busyMs: number
  readonly gcMs: number
}

/** Samples how busy the process is, and reports what it is about to lack. */
export class Load {
  readonly #clock: Clock
  readonly #resources: Pick<Resources, 'strained'>
  readonly #budget: Pick<ByteBudget, 'heldBytes' | 'maxBytes'>
  #readings: readonly Reading[] = []
  #cancel: Cancel = () => {}

  constructor(
    clock: Clock,
    resources: Pick<Resources, 'strained'>,
    budget: Pick<ByteBudget, 'heldBytes' | 'maxBytes'>,
  ) {
    this.#clock = clock
    this.#resources = resources
    this.#budget = budget
  }

  /** Samples until `stop`. */
  start(): void {
    const dueMs = this.#clock.nowMs() + everyMs
    this.#cancel = this.#clock.after(everyMs, () => {
      const atMs = this.#clock.nowMs()
      const { active: busyMs } = performance.eventLoopUtilization()
      const reading = { lateMs: atMs - dueMs, atMs, busyMs, gcMs: gcSeconds() * 1_000 }
      this.#readings = [...this.#readings, reading].slice(-samples)
      this.#report()
      this.start()
    })
  }

  stop(): void {
    this.#cancel()
  }

  #report(): void {
    const [first, ...others] = this.#readings
    const last = others.at(-1)
    const isWhole = this.#readings.length === samples
    const report = this.#resources.strained.bind(this.#resources)
    if (isWhole && first && last) {
      const ms = last.atMs - first.atMs
      const lateMs = others.reduce((sum, each) => sum + each.lateMs, 0) / others.length
      const [busy, collecting] = [(last.busyMs - first.busyMs) / ms, (last.gcMs - first.gcMs) / ms]
      if (lateMs >= strained.lateMs || busy >= strained.busy)
        report('cpu', `busy ${percentOf(busy)} of the time, timers ${Math.round(lateMs)} ms late`)
      if (collecting >= strained.collecting)
        report('memory', `garbage collection takes ${percentOf(collecting)} of the time`)
    }
    const { heldBytes, maxBytes } = this.#budget
    if (heldBytes >= strained.bytes * maxBytes)
      report('buffered-bytes', `${heldBytes} of ${maxBytes} are in use`)
    const files = openFiles()
    if (files !== null && maxFiles !== null && files >= strained.files * maxFiles)
      report('files', `${files} of ${maxFiles} are open`)
  }
}

function percentOf(share: number): string {
  return `${Math.round(share * 100)} %`
}
