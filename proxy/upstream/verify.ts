// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, Verification } from '../chain/types.ts'
import type { NodeUrl, Upstream } from './upstream.ts'
import type { PoolObserver } from './observer.ts'
import { applyProbe, isTrouble, type Probe, type ProbeTrouble } from './probe.ts'

export interface VerifyOptions {
  readonly iface: ChainInterface
  readonly observer: PoolObserver
  readonly probe: Probe
}

/** What a node says to a method that it does not have (`specs/failures/common.yml`). */
const unknownMethod = 'method-not-found'

/**
 * Asks one URL of an upstream for everything that the spec wants to see before it may serve, and notes on it what
 * came of that. One that was verified before and cannot be asked now has failed, but what it has shown still stands.
 */
export async function verifyUrl(
  upstream: Upstream,
  url: NodeUrl,
  { iface, observer, probe }: VerifyOptions,
): Promise<void> {
  const report = (name: string, why: string) => {
    observer.verificationFailed(upstream.name, url.printable, name, why)
  }
  const beInTrouble = (trouble: ProbeTrouble) => {
    if (trouble.kind === 'failed' && url.verified !== true) report('reach', trouble.why)
    else applyProbe(upstream, url, trouble, 'health check')
  }
  // A URL for subscriptions alone need not know any other method, as the WebSockets of Solana's nodes do not;
  // which chain it is of, the other URLs of its upstream show.
  const servesCalls = upstream.urls.includes(url)
  const wanted = iface.verifications.filter((each) => isWantedOf(url, each))
  // Add-ons that its node turns out not to have, and those that it cannot be asked about now.
  const lacking = new Set<string>()
  const unknown = new Set<string>()
  for (const verification of wanted) {
    const { name, severity, addon } = verification
    if (url.cooldown.active) return
    const answer = await probe(url, verification.call)
    if (!servesCalls && answer.kind === 'refused' && answer.failure?.name === unknownMethod)
      continue
    // Without an add-on an upstream still serves everything else.
    const isNeeded = severity === 'fail' && addon === null
    if (answer.kind === 'limited' || (answer.kind === 'failed' && isNeeded))
      return beInTrouble(answer)
    const why = answer.kind === 'value' ? mismatch(verification, answer.value) : answer.why
    if (why === null) continue
    report(name, why)
    if (isNeeded) {
      url.verified = false
      return
    }
    if (addon !== null && severity === 'fail')
      (answer.kind === 'failed' ? unknown : lacking).add(addon)
  }
  if (wanted.length === 0 && iface.latestBlock) {
    if (url.cooldown.active) return
    // With nothing to verify, any answer shows that something is there.
    const answer = await probe(url, iface.latestBlock)
    if (isTrouble(answer)) return beInTrouble(answer)
  }
  // What cannot be asked now stands as it stood.
  const shown: ReadonlySet<string> = url.verified === true ? url.addons : new Set()
  url.openAddons = unknown.difference(lacking).difference(shown)
  url.addons = new Set(url.declaredAddons).difference(lacking).difference(url.openAddons)
  url.verified = true
}

function isWantedOf(url: NodeUrl, { name, addon }: Verification): boolean {
  const isSkipped = url.skipVerifications.includes('*') || url.skipVerifications.includes(name)
  return !isSkipped && (addon === null || url.declaredAddons.includes(addon))
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
