// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RouterProcess } from '../processes/router-process.ts'
import type { Screen } from './screen.ts'

const timeoutMs = 5_000
const shownSeries = ['router_attempts_total', 'router_upstream_state', 'router_chain_tip_block']
const maxLines = 12

/** Shows the health endpoints and a few metrics, as a monitoring system would read them. */
export async function showHealth(screen: Screen, router: RouterProcess): Promise<void> {
  const pages = [
    `${router.adminUrl}/metrics/overall-health`,
    `${router.adminUrl}/readyz`,
    `${router.url}/health`,
  ]
  for (const page of pages) {
    const { status, text } = await get(page)
    screen.row([page, `${status}  ${text.trim().split('\n')[0] ?? ''}`], [47, 0])
  }
  const { text } = await get(`${router.adminUrl}/metrics`)
  const lines = text
    .split('\n')
    .filter((line) => shownSeries.some((name) => line.startsWith(`${name}{`)))
    .filter((line) => !line.endsWith(' 0'))
  screen.note(`\n${lines.slice(0, maxLines).join('\n')}`)
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  return { status: response.status, text: await response.text() }
}
