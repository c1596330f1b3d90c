// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { valueOf } from './environment.ts'
import type { ReferenceData, SecretKey } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import { hasChanged, type SecretHashes } from './secret-hashes.ts'
import type { Running } from './translation.ts'
import type { Unmet } from './violation.ts'

/** What a plan needs of Secrets. */
type WithSecrets = Pick<UpstreamPlan, 'variables' | 'files'>

/**
 * The forms in which pods run providers now. The values of Secrets that they were started with are known to them alone:
 * a form that is good with these values, and no more with the present ones, is good for as long as no pod has to start.
 */
export class RunningForms {
  readonly #data: ReferenceData
  readonly #forms: ReadonlyMap<string, readonly UpstreamPlan[]>
  /** By form that goes on with values of the past: the places of the keys that have others now. */
  readonly #replaced = new Map<WithSecrets, ReadonlySet<string>>()

  constructor({ upstreams, secretHashes }: Running, data: ReferenceData) {
    this.#data = data
    this.#forms = new Map(
      upstreams.map((plan) => [plan.provider, [plan, ...this.#asStarted(plan, secretHashes)]]),
    )
  }

  /** Of one provider: with the present values, then with those of the past where some have changed since. */
  of(provider: string): readonly UpstreamPlan[] {
    return this.#forms.get(provider) ?? []
  }

  /** Whether pods run with a plan as it is, the values of its Secrets included. */
  isRun(plan: UpstreamPlan): boolean {
    const latest = this.of(plan.provider).at(-1)
    if (latest === undefined || JSON.stringify(latest) !== JSON.stringify(plan)) return false
    return !this.#replaced.has(latest) || latest === plan
  }

  /** What is known of the values that a plan is in force with. */
  dataFor(plan: WithSecrets): ReferenceData {
    return withhold(this.#data, this.#replaced.get(plan) ?? nothing)
  }

  /** What is known of the values that all of these are in force with. A key that one of them needs anew is. */
  dataForAll(plans: readonly WithSecrets[]): ReferenceData {
    const anew = new Set(
      plans
        .filter((plan) => !this.#replaced.has(plan))
        .flatMap(secretsOf)
        .map(placeOf),
    )
    const replaced = plans.flatMap((plan) => [...(this.#replaced.get(plan) ?? [])])
    return withhold(this.#data, new Set(replaced.filter((place) => !anew.has(place))))
  }

  /** What pods run with and new pods would not find. */
  lostBy(plan: UpstreamPlan): readonly Unmet[] {
    const replaced = this.#replaced.get(plan) ?? nothing
    return secretsOf(plan).flatMap((secret): readonly Unmet[] => {
      const { name, key } = secret
      const of = (what: string): string =>
        `UpstreamProvider ${plan.provider}: the pods run with ${what}`
      if (replaced.has(placeOf(secret))) {
        const message = of(
          `an earlier value of the key ${key} of the Secret ${name}; the present one is refused, see the provider`,
        )
        return [{ reason: 'SecretValueRefused', field: '', message }]
      }
      if (valueOf(secret, this.#data) !== null) return []
      const isGone = this.#data.secret(name) === null
      const message = of(`the key ${key} of the Secret ${name}, which is gone`)
      return [{ reason: isGone ? 'SecretNotFound' : 'SecretKeyNotFound', field: '', message }]
    })
  }

  #asStarted(plan: UpstreamPlan, before: SecretHashes): readonly UpstreamPlan[] {
    const replaced = secretsOf(plan).filter((secret) => hasChanged(secret, this.#data, before))
    if (replaced.length === 0) return []
    const form = { ...plan }
    this.#replaced.set(form, new Set(replaced.map(placeOf)))
    return [form]
  }
}

function secretsOf({ variables, files }: WithSecrets): readonly SecretKey[] {
  return [...variables, ...files].map(({ secret }) => secret)
}

const nothing: ReadonlySet<string> = new Set()

/** Tells keys apart: no name of a Secret has a slash. */
function placeOf({ name, key }: SecretKey): string {
  return `${name}/${key}`
}

/** Makes as if nobody knew the values at these places. */
function withhold(data: ReferenceData, places: ReadonlySet<string>): ReferenceData {
  if (places.size === 0) return data
  return {
    secret(name) {
      const found = data.secret(name)
      if (found === null) return null
      return {
        uid: found.uid,
        get keys() {
          return found.keys
        },
        get: (key) => (places.has(placeOf({ name, key })) ? null : found.get(key)),
      }
    },
    configMap: (name) => data.configMap(name),
  }
}
