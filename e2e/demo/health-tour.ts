// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RouterProcess } from '../processes/router-process.ts'
import type { Screen } from './screen.ts'

const timeoutMs = 5_000
const maxLines = 16

/** Shows the health endpoints and a few metrics, as a monitoring system would read them. */
export async function showHealth(
  screen: Screen,
  router: RouterProcess,
  victim: string,
): Promise<void> {
  const shown = [
    /^router_chain_tip_block\{/,
    /^router_upstream_state\{.* 1$/,
    new RegExp(`^router_attempts_total\\{.*upstream="${victim}"`),
    /^router_retries_total\{.* [1-9]\d*$/,
  ]
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
  const all = text.split('\n')
  const lines = shown.flatMap((pattern) => all.filter((line) => pattern.test(line)))
  screen.note(`\n${lines.slice(0, maxLines).join('\n')}`)
}

async function get(url: string): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) })
  return { status: response.status, text: await response.text() }
}
