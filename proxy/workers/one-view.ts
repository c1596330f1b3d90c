// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Facts } from '../console/facts.ts'
import type { NamedFacts } from '../console/live-page.ts'
import { workerName, type WorkersFacts } from '../console/replicas.ts'
import type { ConfigState } from '../telemetry/config-state.ts'
import type { ExplainAnswer } from '../telemetry/explain/explain-page.ts'
import type { HealthAnswer } from '../telemetry/health.ts'
import type { MetricsPage } from '../telemetry/metrics-page.ts'
import type { createWorkerMetrics } from '../telemetry/worker-metrics.ts'
import { counted } from '../words/counted.ts'
import type { WorkerPages } from './worker-pages.ts'

/* The pages of the admin address, for all workers of a router as for one process. */

interface ViewOptions {
  /** Workers that have started. */
  readonly workers: () => readonly WorkerPages[]
  readonly count: number
  readonly state: ConfigState
  readonly isDraining: () => boolean
  readonly metrics: ReturnType<typeof createWorkerMetrics>
}

/** A list of calls of `/explain`. */
interface CallList {
  readonly calls: readonly { readonly at: string }[]
  readonly more: number
}

/** Merges the pages of workers. */
export class OneView {
  readonly #options: ViewOptions

  constructor(options: ViewOptions) {
    this.#options = options
  }

  async page(accept?: string): Promise<MetricsPage> {
    const answers = await this.#ask('/metrics.json')
    const all = answers.map(({ text }) => JSON.parse(text) as object)
    return this.#options.metrics.page(all, accept)
  }

  /** Ready once all workers are. Its lines are those of the worker that can serve least. */
  async readiness(isVerbose: boolean): Promise<HealthAnswer> {
    const { count, isDraining } = this.#options
    const answers = await this.#ask(isVerbose ? '/readyz?verbose' : '/readyz')
    const waiting = answers.find(({ status }) => status !== 200)
    const [line = '', ...rest] = (waiting ?? answers[0])?.text.split('\n') ?? []
    const missing = count - answers.length
    const missed = `not ready: ${counted(missing, 'worker')} of ${count} did not start yet`
    const first = isDraining() ? 'not ready: draining' : missing > 0 ? missed : line
    const isReady = first === 'ready'
    return { status: isReady ? 200 : 503, body: [first, ...rest].join('\n') }
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

  /** Of a call, the explanation of the worker that had it; of lists, all calls by time. */
  async explain(
    guid: string | null,
    query: Readonly<Record<string, unknown>>,
  ): Promise<ExplainAnswer> {
    const search = new URLSearchParams(query as Record<string, string>)
    const path = `/explain${guid === null ? '' : `/${encodeURIComponent(guid)}`}?${search.toString()}`
    const answers = await this.#ask(path)
    const found = answers.filter(({ status }) => status === 200)
    const isText = query['format'] === 'text' || found.length === 0
    const [one] = found.length > 0 ? found : answers
    const { status, text: body } = one ?? { status: 503, text: 'no worker answers\n' }
    if (guid !== null || found.length < 2) return { status, isText, body }
    if (isText) {
      // Each line begins with its time.
      const lines = found.flatMap(({ text }) => text.trimEnd().split('\n'))
      const calls = lines
        .filter((line) => /^\d{4}-/.test(line))
        .toSorted()
        .toReversed()
      const others = calls.length > 0 ? [] : lines.slice(0, 1)
      return { status, isText, body: `${[...calls, ...others].join('\n')}\n` }
    }
    const lists = found.map(({ text }) => JSON.parse(text) as CallList)
    const calls = lists.flatMap((each) => each.calls).toSorted((a, b) => (a.at < b.at ? 1 : -1))
    const more = lists.reduce((sum, each) => sum + each.more, 0)
    return { status, isText, body: JSON.stringify({ calls, more }) }
  }

  async facts(): Promise<WorkersFacts> {
    const { workers, state } = this.#options
    const asked = workers().map(async (worker) => {
      const answer = await worker.read('/facts')
      if (answer?.status !== 200) return []
      const facts = JSON.parse(answer.text) as Facts
      return [
        { worker: worker.number, facts: { ...facts, refused: state.facts.refused?.why ?? null } },
      ]
    })
    return { workers: (await Promise.all(asked)).flat() }
  }

  /** @param at name of this machine */
  async namedFacts(at: string): Promise<readonly NamedFacts[]> {
    const { workers } = await this.facts()
    return workers.map(({ worker, facts }) => ({ at: workerName(at, worker), facts }))
  }

  async #ask(path: string) {
    const answers = await Promise.all(this.#options.workers().map((each) => each.read(path)))
    return answers.filter((each) => each !== null)
  }
}
