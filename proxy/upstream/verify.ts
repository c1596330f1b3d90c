// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, Verification } from '../chain/types.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver } from './observer.ts'
import { applyProbe, isTrouble, type Probe, type ProbeAnswer, type ProbeTrouble } from './probe.ts'
import type { Upstream } from './upstream.ts'

/** One verification that a URL did not pass. */
interface Shortcoming {
  readonly verification: Verification
  /** For the log: what was wanted and what came. */
  readonly why: string
}

/** What a verification found. */
interface Found {
  /** What keeps the URL from serving; null: it may serve. */
  readonly rejection: Shortcoming | null
  /** Warnings, and add-ons that the URL does not have after all. */
  readonly shortcomings: readonly Shortcoming[]
  /** Add-ons that it could not be asked about. */
  readonly unknown: readonly Shortcoming[]
}

export interface VerifyOptions {
  readonly iface: ChainInterface
  readonly observer: PoolObserver
  readonly probe: Probe
  /**
   * False for a URL that is for subscriptions alone: it need not know any other method, as the WebSockets of
   * Solana's nodes do not; which chain it is of, the other URLs of its upstream show.
   */
  readonly servesCalls: boolean
}

/** What a node says to a method that it does not have (`specs/failures/common.yml`). */
const unknownMethod = 'method-not-found'

/**
 * Verifies one URL of an upstream, and notes on it what came of that. One that was verified before
 * and cannot be asked now has failed, but what it has shown still stands.
 */
export async function verifyUrl(
  upstream: Upstream,
  url: NodeUrl,
  options: VerifyOptions,
): Promise<void> {
  const { observer } = options
  const report = ({ verification: { name }, why }: Shortcoming) => {
    observer.verificationFailed(upstream.name, url.printable, name, why)
  }
  const found = await verify(url, options)
  if (found === null) return
  if ('kind' in found) {
    if (found.kind === 'failed' && url.verified !== true)
      observer.verificationFailed(upstream.name, url.printable, 'reach', found.why)
    else applyProbe(upstream, url, found, 'health check')
    return
  }
  const { rejection, shortcomings, unknown } = found
  noteAddons(url, found)
  url.verified = rejection === null
  if (rejection) report(rejection)
  for (const each of [...shortcomings, ...unknown]) report(each)
}

/**
 * Asks a URL for everything that the spec wants to see before it may serve.
 * @returns trouble where it could not be asked; null during a cooldown
 */
async function verify(
  url: NodeUrl,
  { iface, probe, servesCalls }: VerifyOptions,
): Promise<Found | ProbeTrouble | null> {
  const wanted = iface.verifications.filter(
    ({ name, addon }) =>
      !url.skipVerifications.includes('*') &&
      !url.skipVerifications.includes(name) &&
      (addon === null || url.declaredAddons.includes(addon)),
  )
  const shortcomings: Shortcoming[] = []
  const unknown: Shortcoming[] = []
  for (const verification of wanted) {
    if (url.cooldown.active) return null
    const answer = await probe(url, verification.call)
    if (!servesCalls && answer.kind === 'refused' && answer.failure?.name === unknownMethod)
      continue
    if (answer.kind === 'limited') return answer
    // Without an add-on an upstream still serves everything else.
    const isNeeded = verification.severity === 'fail' && verification.addon === null
    if (answer.kind === 'failed' && isNeeded) return answer
    const why = shortcomingOf(verification, answer)
    if (why === null) continue
    const shortcoming = { verification, why }
    if (isNeeded) return { rejection: shortcoming, shortcomings: [], unknown: [] }
    const isUnknown = answer.kind === 'failed' && verification.severity === 'fail'
    ;(isUnknown ? unknown : shortcomings).push(shortcoming)
  }
  if (wanted.length === 0 && iface.latestBlock) {
    if (url.cooldown.active) return null
    // With nothing to verify, any answer shows that something is there.
    const answer = await probe(url, iface.latestBlock)
    if (isTrouble(answer)) return answer
  }
  return { rejection: null, shortcomings, unknown }
}

/** It has those that it declares, but for what was found; what cannot be asked now stands as it stood. */
function noteAddons(url: NodeUrl, { shortcomings, unknown }: Found): void {
  const shown = url.verified === true ? url.addons : new Set<string>()
  const lacking = addonsOf(shortcomings)
  const open = addonsOf(unknown).difference(lacking).difference(shown)
  url.addons = new Set(url.declaredAddons).difference(lacking).difference(open)
  url.openAddons = open
}

function addonsOf(shortcomings: readonly Shortcoming[]): Set<string> {
  return new Set(
    shortcomings.flatMap(({ verification: { addon, severity } }) =>
      addon !== null && severity === 'fail' ? [addon] : [],
    ),
  )
}

function shortcomingOf(
  verification: Verification,
  answer: Exclude<ProbeAnswer, { kind: 'limited' }>,
): string | null {
  return answer.kind === 'value' ? mismatch(verification, answer.value) : answer.why
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
