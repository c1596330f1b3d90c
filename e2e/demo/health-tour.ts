// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RouterProcess } from '../processes/router-process.ts'
import { getPage } from './metrics-page.ts'
import type { Screen } from './screen.ts'

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
    const { status, text } = await getPage(page)
    screen.row([page, `${status}  ${text.trim().split('\n')[0] ?? ''}`], [47, 0])
  }
  const { text } = await getPage(`${router.adminUrl}/metrics`)
  const all = text.split('\n')
  const lines = shown.flatMap((pattern) => all.filter((line) => pattern.test(line)))
  screen.note(`\n${lines.slice(0, maxLines).join('\n')}`)
}
