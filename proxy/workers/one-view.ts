// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Facts } from '../console/facts.ts'
import type { WorkersFacts } from '../console/replicas.ts'
import type { ConfigState } from '../telemetry/config-state.ts'
import { type ExplainAnswer, mostListed } from '../telemetry/explain/explain-page.ts'
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
  #wasReady = false

  constructor(options: ViewOptions) {
    this.#options = options
  }

  async page(accept?: string): Promise<MetricsPage> {
    const { workers, metrics } = this.#options
    const asked = workers().map(async (worker) => {
      const answer = await worker.read('/metrics.json')
      return [worker, answer && (JSON.parse(answer.text) as object)] as const
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

  /** Returns a call from the worker that served it. Merges lists by time. */
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
    const lists = found.map(({ text }) =>
      isText ? readLines(text) : (JSON.parse(text) as CallList),
    )
    const all = lists.flatMap((each) => each.calls).toSorted((a, b) => (a.at < b.at ? 1 : -1))
    const calls = all.slice(0, mostListed)
    const more = lists.reduce((sum, each) => sum + each.more, all.length - calls.length)
    if (!isText) return { status, isText, body: JSON.stringify({ calls, more }) }
    if (calls.length === 0) return { status, isText, body }
    const lines = [...calls.map(({ at }) => at), ...(more > 0 ? [`and ${more} more`] : [])]
    return { status, isText, body: `${lines.join('\n')}\n` }
  }

  async facts(): Promise<WorkersFacts> {
    const { workers, state } = this.#options
    const asked = workers().map(async (worker) => {
      const answer = await worker.read('/facts')
      const facts = answer?.status === 200 ? (JSON.parse(answer.text) as Facts) : null
      return { worker: worker.number, facts: facts && { ...facts, config: state.facts } }
    })
    return { workers: await Promise.all(asked) }
  }

  async #ask(path: string) {
    const answers = await Promise.all(this.#options.workers().map((each) => each.read(path)))
    return answers.filter((each) => each !== null)
  }
}

/** The lines of a list as text. Each begins with its time. */
function readLines(text: string): CallList {
  const lines = text.trimEnd().split('\n')
  const calls = lines.filter((line) => /^\d{4}-/.test(line)).map((at) => ({ at }))
  return { calls, more: Number(/^and (\d+) more$/.exec(lines.at(-1) ?? '')?.[1] ?? 0) }
}
