// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Choice } from './pick-upstreams.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { RunningForms } from './running-forms.ts'
import type { Candidate } from './upstream-plan.ts'
import type { Dangling } from './violation.ts'

/** What comes of accepted upstreams whose Secrets or ConfigMaps are not all there. */
export interface Settled {
  /** What is left to choose from. */
  readonly choices: readonly Choice[]
  /** Providers that are not used as they are written, for want of references. */
  readonly waiting: ReadonlyMap<string, readonly Dangling[]>
}

/**
 * Decides over accepted upstreams that wait for a reference: one that the pods run goes on as they run it; one
 * that is new is left out until the reference is there.
 */
export function settleReferences(
  candidates: readonly Candidate[],
  chosen: ReadonlyMap<string, UpstreamPlan>,
  running: RunningForms,
): Settled {
  const waiting = new Map<string, readonly Dangling[]>()
  const written = new Map(candidates.map((candidate) => [candidate.plan, candidate]))
  const choices = [...chosen].map(([provider, plan]) => {
    const { dangling = [] } = written.get(plan) ?? {}
    if (dangling.length > 0)
      waiting.set(
        provider,
        dangling.map((each) => ofProvider(provider, each)),
      )
    const forms = running.of(provider)
    const mayTake = dangling.length > 0 ? forms : [plan, ...forms.slice(forms.indexOf(plan) + 1)]
    return { provider, forms: mayTake, refusals: [] }
  })
  return { choices, waiting }
}

function ofProvider(provider: string, { reason, field, message }: Dangling): Dangling {
  return { reason, field: '', message: `UpstreamProvider ${provider}: ${field}: ${message}` }
}
