// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeAnswer } from './ask.ts'
import type { NodeUrl } from './node-url.ts'
import type { Upstream } from './upstream.ts'

/** What the router asked for of its own accord: begins the reason of a failure. */
export type ProbePurpose = 'probe' | 'health check' | 'confirm'

/** An answer that says something of the URL, and not of what was asked for. */
export type ProbeTrouble = Extract<ProbeAnswer, { kind: 'limited' | 'failed' }>

export function isTrouble(answer: ProbeAnswer): answer is ProbeTrouble {
  return answer.kind === 'limited' || answer.kind === 'failed'
}

/**
 * What follows for a URL from an answer to a question of the router's own, whoever asked it: one that
 * wants to be left alone is, and one that failed has failed once, however it did.
 */
export function applyProbe(
  upstream: Upstream,
  url: NodeUrl,
  answer: ProbeTrouble,
  purpose: ProbePurpose,
): void {
  if (answer.kind === 'limited') url.holdOff.begin(answer.retryAfterMs)
  else upstream.failed(url, { name: `${purpose}: ${answer.why}`, weight: 1 })
}
