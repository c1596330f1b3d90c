// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Pool } from 'undici'
import type { Facts } from '../console/facts.ts'
import type { WorkersFacts } from '../console/replicas.ts'
import { type ConfigState, timeOf } from '../telemetry/config-state.ts'
import type { Explained } from '../telemetry/explain/call-history.ts'
import { type ExplainAnswer, explainPage, mostListed } from '../telemetry/explain/explain-page.ts'
import type { HealthAnswer } from '../telemetry/health.ts'
import type { MetricsPage } from '../telemetry/metrics-page.ts'
import type { createWorkerMetrics } from '../telemetry/worker-metrics.ts'
import { counted } from '../words/counted.ts'
import type { Pulse } from './pulse.ts'

/* The pages of the admin address, for all workers of a router as for one process. */

interface ViewOptions {
  /** Workers that have started. */
  readonly workers: () => readonly {
    readonly pages: WorkerPages
    readonly pulse: Pick<Pulse, 'silentSinceMs'>
  }[]
  readonly count: number
  readonly state: ConfigState
  readonly isDraining: () => boolean
  readonly metrics: ReturnType<typeof createWorkerMetrics>
}

/** Merges the pages of workers. */
export class OneView {
  readonly #options: ViewOptions
  #wasReady = false

  constructor(options: ViewOptions) {
    this.#options = options
  }

  async page(accept?: string): Promise<MetricsPage> {
    const { workers, metrics } = this.#options
    const asked = workers().map(async ({ pages }) => {
      const answer = await pages.read('/metrics.json')
      return [pages, answer && (JSON.parse(answer.text) as object)] as const
    })
    return metrics.page(new Map(await Promise.all(asked)), accept)
  }

  /** Ready once all workers were. Its lines are those of the worker that can serve least. */
  async readiness(isVerbose: boolean): Promise<HealthAnswer> {
    const { count, isDraining } = this.#options
    const answers = await this.#ask(isVerbose ? '/readyz?verbose' : '/readyz')
    const waiting = answers.find(({ status }) => status !== 200)
    const [line = '', ...rest] = (waiting ?? answers[0])?.text.split('\n') ?? []
    const silent = count - answers.length
    this.#wasReady ||= silent === 0 && line === 'ready'
    const isReady = !isDraining() && this.#wasReady && answers.some(({ status }) => status === 200)
    const missed = `${counted(silent, 'worker')} of ${count} ${silent === 1 ? 'does' : 'do'} not answer`
    const why = isDraining() ? 'not ready: draining' : silent > 0 ? `not ready: ${missed}` : line
    const note = isReady && silent > 0 ? [missed] : []
    return {
      status: isReady ? 200 : 503,
      body: [isReady ? 'ready' : why, ...note, ...rest].join('\n'),
    }
  }

  async overall(): Promise<HealthAnswer> {
    const answers = await this.#ask('/metrics/overall-health')
    const worst = answers.find(({ status }) => status !== 200) ?? answers[0]
    if (!worst || this.#options.isDraining()) return { status: 503, body: 'Unhealthy' }
    return { status: worst.status === 200 ? 200 : 503, body: worst.text }
  }

  /** That of the worker with the fewest upstreams that serve, and the config of the supervisor. */
  async status(): Promise<string> {
    interface Status {
      readonly listeners: readonly { readonly serving: number }[]
    }
    const answers = await this.#ask('/status')
    const all = answers.map(({ text }) => JSON.parse(text) as Status)
    const serving = ({ listeners }: Status) =>
      listeners.reduce((sum, each) => sum + each.serving, 0)
    const [worst] = all.toSorted((a, b) => serving(a) - serving(b))
    return JSON.stringify({ ...worst, config: this.#options.state.facts })
  }

  /** Shows a call of the worker that served it, and the latest calls of all. */
  async explain(
    guid: string | null,
    query: Readonly<Record<string, unknown>>,
  ): Promise<ExplainAnswer> {
    const { format, ...rest } = query
    const search = new URLSearchParams(rest as Record<string, string>)
    const path = guid === null ? '/explain' : `/explain/${encodeURIComponent(guid)}`
    const answers = await this.#ask(`${path}?${search.toString()}`)
    const found = answers.filter(({ status }) => status === 200)
    const lists = found.map(({ text }) => JSON.parse(text) as Explained)
    const all = lists.flatMap((each) => each.calls).toSorted((a, b) => (a.at < b.at ? 1 : -1))
    const calls = all.slice(0, mostListed)
    const more = lists.reduce((sum, each) => sum + each.more, all.length - calls.length)
    const merged = () => ({ calls, more })
    const extent = `the latest of ${counted(answers.length, 'worker')}`
    return explainPage({ list: merged, find: merged, extent }, guid, { ...rest, format })
  }

  async facts(): Promise<WorkersFacts> {
    const { workers, state } = this.#options
    const asked = workers().map(async ({ pages, pulse }) => {
      const answer = await pages.read('/facts')
      const facts = answer?.status === 200 ? (JSON.parse(answer.text) as Facts) : null
      const { silentSinceMs } = pulse
      const silentSince = silentSinceMs === null ? null : timeOf(silentSinceMs)
      const known = facts && { ...facts, config: state.facts }
      return { worker: pages.number, facts: known, silentSince }
    })
    return { workers: await Promise.all(asked) }
  }

  async #ask(path: string) {
    const answers = await Promise.all(this.#options.workers().map(({ pages }) => pages.read(path)))
    return answers.filter((each) => each !== null)
  }
}

/** How long a worker may take to answer. */
const maxAnswerMs = 2_000

/** The pages of one worker, read over its unix socket. */
export class WorkerPages {
  readonly number: number
  readonly #pool: Pool

  constructor(number: number, socketPath: string) {
    this.number = number
    this.#pool = new Pool('http://localhost', { socketPath, connections: 4, pipelining: 1 })
  }

  /** Null if the worker does not answer in time. */
  async read(path: string): Promise<{ readonly status: number; readonly text: string } | null> {
    try {
      const signal = AbortSignal.timeout(maxAnswerMs)
      const { statusCode, body } = await this.#pool.request({ path, method: 'GET', signal })
      return { status: statusCode, text: await body.text() }
    } catch {
      return null
    }
  }

  close(): void {
    void this.#pool.destroy()
  }
}
