// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { valueOf } from './environment.ts'
import type { ReferenceData } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { Candidate } from './upstream-plan.ts'
import type { Dangling } from './violation.ts'

/** What comes of upstreams whose Secrets or ConfigMaps are not all there. */
export interface Settled {
  /** Those that pods can run with, or run with now. */
  readonly upstreams: readonly UpstreamPlan[]
  /** Providers that are not used as they are written, for want of references. */
  readonly waiting: ReadonlyMap<string, readonly Dangling[]>
  /** By provider: what pods run with and new pods would not find. */
  readonly lost: ReadonlyMap<string, readonly Dangling[]>
}

/**
 * Decides over accepted upstreams that wait for a reference: one that the pods run goes on as they run it; one
 * that is new is left out until the reference is there.
 */
export function settleReferences(
  candidates: readonly Candidate[],
  chosen: ReadonlyMap<string, UpstreamPlan>,
  running: ReadonlyMap<string, UpstreamPlan>,
  data: ReferenceData,
): Settled {
  const upstreams: UpstreamPlan[] = []
  const waiting = new Map<string, readonly Dangling[]>()
  const lost = new Map<string, readonly Dangling[]>()
  const written = new Map(candidates.map((candidate) => [candidate.plan, candidate]))
  for (const plan of chosen.values()) {
    const { provider } = plan
    const dangling = (written.get(plan)?.dangling ?? []).map((each) => ofProvider(provider, each))
    if (dangling.length > 0) waiting.set(provider, dangling)
    const used = dangling.length > 0 ? running.get(provider) : plan
    if (used === undefined) continue
    upstreams.push(used)
    // A plan as it is written has been looked at already.
    const gone = used === plan && written.has(plan) ? [] : lostBy(used, data)
    if (gone.length > 0) lost.set(provider, gone)
  }
  return { upstreams, waiting, lost }
}

function ofProvider(provider: string, { reason, field, message }: Dangling): Dangling {
  return { reason, field: '', message: `UpstreamProvider ${provider}: ${field}: ${message}` }
}

function lostBy(
  { provider, variables, files }: UpstreamPlan,
  data: ReferenceData,
): readonly Dangling[] {
  const secrets = [...variables, ...files].map(({ secret }) => secret)
  return secrets
    .filter((secret) => valueOf(secret, data) === null)
    .map(({ name, key }) => {
      const isGone = data.secret(name) === null
      const message = `UpstreamProvider ${provider}: the pods run with the key ${key} of the Secret ${name}, which is gone`
      return { reason: isGone ? 'SecretNotFound' : 'SecretKeyNotFound', field: '', message }
    })
}
