// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface } from '../chain/types.ts'
import { applyProbe } from './apply-probe.ts'
import type { AskUrl } from './ask.ts'
import type { NodeUrl } from './node-url.ts'
import type { PoolObserver } from './observer.ts'
import type { Upstream } from './upstream.ts'
import { verify, type Passed, type Shortcoming } from './verify.ts'

export interface VerifyUrlOptions {
  readonly iface: ChainInterface
  readonly observer: PoolObserver
  readonly ask: AskUrl
  /** False for a URL that is for subscriptions alone. */
  readonly servesCalls?: boolean
}

/**
 * Verifies one URL of an upstream, and notes on it what came of that. One that was verified before
 * and cannot be asked now has failed, but what it has shown still stands.
 */
export async function verifyUrl(
  upstream: Upstream,
  url: NodeUrl,
  { iface, observer, ask, servesCalls = true }: VerifyUrlOptions,
): Promise<void> {
  if (url.holdOff.active) return
  const verdict = await verify(url, url.declaredAddons, iface, ask, servesCalls)
  if (verdict.kind === 'held-off') return
  if (verdict.kind === 'failed' && url.verified !== true) {
    observer.verificationFailed(upstream.name, url.printable, 'reach', verdict.why)
    return
  }
  if (verdict.kind === 'failed' || verdict.kind === 'limited') {
    applyProbe(upstream, url, verdict, 'health check')
    return
  }
  const found = verdict.kind === 'passed' ? verdict : rejectedFor(verdict.shortcoming)
  noteAddons(url, found)
  url.verified = verdict.kind === 'passed'
  for (const { verification, why } of [...found.shortcomings, ...found.unknown])
    observer.verificationFailed(upstream.name, url.printable, verification.name, why)
}

type Found = Omit<Passed, 'kind'>

function rejectedFor(shortcoming: Shortcoming): Found {
  return { shortcomings: [shortcoming], unknown: [] }
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
