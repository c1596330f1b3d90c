// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ChildProcesses } from '../../processes/child-processes.ts'
import { untilItServes } from '../../processes/child-processes.ts'
import { freePort } from '../../processes/free-ports.ts'
import type { Workspace } from '../../program/workspace.ts'
import { ensureAssets } from '../assets.ts'

const rulesFile = join(
  import.meta.dirname,
  '../../../charts/rpc-router/files/prometheus-rules.yaml',
)
/** One second stands for ten. */
const compression = 10
const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Divides every duration and range of the rules by ten. */
function compressed(rules: string): string {
  return rules.replaceAll(
    /(\bfor: |\bkeep_firing_for: |\[)(\d+)([smhd])\b/g,
    (_, before: string, count: string, unit: keyof typeof unitMs) =>
      `${before}${(Number(count) * unitMs[unit]) / compression}ms`,
  )
}

/** One series of a result. */
export interface Result {
  readonly metric: Readonly<Record<string, string>>
  readonly value: number
}

export interface LivePrometheus {
  readonly url: string
  /** The results of an instant query. @throws Error if Prometheus refuses the query */
  query(promql: string): Promise<readonly Result[]>
}

/**
 * Starts a real Prometheus, which evaluates the shipped rules ten times faster than usual.
 * @param jobs addresses of the targets by job
 */
export async function startPrometheus(
  children: ChildProcesses,
  workspace: Workspace,
  jobs: Readonly<Record<string, readonly string[]>>,
): Promise<LivePrometheus> {
  const { prometheus } = await ensureAssets(process.env, ['prometheus'])
  const every = '1500ms'
  const port = await freePort()
  await workspace.write('rules.yml', compressed(readFileSync(rulesFile, 'utf8')))
  const config = await workspace.write('prometheus.yml', {
    global: { scrape_interval: every, scrape_timeout: every, evaluation_interval: every },
    rule_files: ['rules.yml'],
    scrape_configs: Object.entries(jobs).map(([job, targets]) => ({
      job_name: job,
      static_configs: [{ targets }],
    })),
  })
  const child = await children.start({
    name: 'prometheus',
    command: prometheus,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(workspace.directory, 'tsdb')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
    ],
  })
  const url = `http://127.0.0.1:${port}`
  const isReady = () => fetch(`${url}/-/ready`).then(({ ok }) => ok)
  await untilItServes(child, new AbortController().signal, isReady)
  return {
    url,
    async query(promql) {
      const response = await fetch(`${url}/api/v1/query`, {
        method: 'POST',
        body: new URLSearchParams({ query: promql }),
      })
      const { status, error, data } = (await response.json()) as {
        status: string
        error?: string
        data?: { result: { metric: Record<string, string>; value: [number, string] }[] }
      }
      if (status !== 'success') throw new Error(`${promql}: ${error}`)
      return (data?.result ?? []).map(({ metric, value: [, value] }) => ({
        metric,
        value: Number(value),
      }))
    },
  }
}
