// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, Verification } from '../chain/types.ts'
import { isTrouble, type ProbeTrouble } from './apply-probe.ts'
import type { AskUrl, ProbeAnswer } from './ask.ts'
import type { NodeUrl } from './node-url.ts'

/** One verification that a URL did not pass. */
export interface Shortcoming {
  readonly verification: Verification
  /** For the log: what was wanted and what came. */
  readonly why: string
}

/** It may serve. */
export interface Passed {
  readonly kind: 'passed'
  /** Warnings, and add-ons that the URL does not have after all. */
  readonly shortcomings: readonly Shortcoming[]
  /** Add-ons that it could not be asked about: whether it has them is not known. */
  readonly unknown: readonly Shortcoming[]
}

export type Verdict =
  | Passed
  | { readonly kind: 'rejected'; readonly shortcoming: Shortcoming }
  /** It could not be asked, or wants to be left alone: nothing is known. */
  | ProbeTrouble
  /** It is left alone, before all was asked. */
  | { readonly kind: 'held-off' }

/** What a node says to a method that it does not have (`specs/failures/common.yml`). */
const unknownMethod = 'method-not-found'

/**
 * Asks a URL for everything that the spec wants to see before it may serve.
 * @param servesCalls false: it is for subscriptions alone, and need not know any other method, as the
 *   WebSockets of Solana's nodes do not; which chain it is of, the other URLs of its upstream show
 */
export async function verify(
  url: NodeUrl,
  declaredAddons: readonly string[],
  iface: ChainInterface,
  ask: AskUrl,
  servesCalls = true,
): Promise<Verdict> {
  const wanted = iface.verifications.filter(
    ({ name, addon }) =>
      !url.skipVerifications.includes('*') &&
      !url.skipVerifications.includes(name) &&
      (addon === null || declaredAddons.includes(addon)),
  )
  const shortcomings: Shortcoming[] = []
  const unknown: Shortcoming[] = []
  for (const verification of wanted) {
    // It may have asked somebody else to be left alone since the last question.
    if (url.holdOff.active) return { kind: 'held-off' }
    const answer = await ask(url, verification.call)
    if (!servesCalls && answer.kind === 'refused' && answer.failure?.name === unknownMethod)
      continue
    if (answer.kind === 'limited') return answer
    // Without an add-on an upstream still serves everything else.
    const isNeeded = verification.severity === 'fail' && verification.addon === null
    if (answer.kind === 'failed' && isNeeded) return answer
    const why = shortcomingOf(verification, answer)
    if (why === null) continue
    const shortcoming = { verification, why }
    if (isNeeded) return { kind: 'rejected', shortcoming }
    const isUnknown = answer.kind === 'failed' && verification.severity === 'fail'
    ;(isUnknown ? unknown : shortcomings).push(shortcoming)
  }
  if (wanted.length > 0) return { kind: 'passed', shortcomings, unknown }
  return reach(url, iface, ask)
}

function shortcomingOf(
  verification: Verification,
  answer: Exclude<ProbeAnswer, { kind: 'limited' }>,
): string | null {
  return answer.kind === 'value' ? mismatch(verification, answer.value) : answer.why
}

/** With nothing to verify, any answer shows that somebody is there. */
async function reach(url: NodeUrl, iface: ChainInterface, ask: AskUrl): Promise<Verdict> {
  const answer = iface.latestBlock && (await ask(url, iface.latestBlock))
  if (answer && isTrouble(answer)) return answer
  return { kind: 'passed', shortcomings: [], unknown: [] }
}

/** Values are compared as text; numbers in hex or decimal by their value. */
function mismatch({ expected }: Verification, value: unknown): string | null {
  const got = typeof value === 'string' ? value : JSON.stringify(value)
  if (expected === null || got === expected || sameNumber(got, expected)) return null
  return `wanted ${expected}, the node says ${printable(got)}`
}

function sameNumber(a: string, b: string): boolean {
  const form = /^(0x[0-9a-f]+|[0-9]+)$/i
  return form.test(a) && form.test(b) && BigInt(a) === BigInt(b)
}

/** A node's word in a log line: short, and without anything that is not plain text. */
function printable(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}...` : text
  return short.replaceAll(/[^\x20-\x7e]/g, '?')
}
