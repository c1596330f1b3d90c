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
  /** By form that goes on with values of the past: the keys that have others now. */
  readonly #replaced = new Map<WithSecrets, readonly SecretKey[]>()

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
    return withhold(this.#data, this.#replaced.get(plan) ?? [])
  }

  /** What is known of the values that all of these are in force with. A key that one of them needs anew is. */
  dataForAll(plans: readonly WithSecrets[]): ReferenceData {
    const anew = plans.filter((plan) => !this.#replaced.has(plan)).flatMap(secretsOf)
    const replaced = plans.flatMap((plan) => this.#replaced.get(plan) ?? [])
    return withhold(
      this.#data,
      replaced.filter((each) => !anew.some((other) => isSame(each, other))),
    )
  }

  /** What pods run with and new pods would not find. */
  lostBy(plan: UpstreamPlan): readonly Unmet[] {
    const replaced = this.#replaced.get(plan) ?? []
    return secretsOf(plan).flatMap((secret): readonly Unmet[] => {
      const { name, key } = secret
      const of = (what: string): string =>
        `UpstreamProvider ${plan.provider}: the pods run with ${what}`
      if (replaced.some((each) => isSame(each, secret))) {
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
    this.#replaced.set(form, replaced)
    return [form]
  }
}

function secretsOf({ variables, files }: WithSecrets): readonly SecretKey[] {
  return [...variables, ...files].map(({ secret }) => secret)
}

function isSame(a: SecretKey, b: SecretKey): boolean {
  return a.name === b.name && a.key === b.key
}

/** Makes as if nobody knew the values of these keys. */
function withhold(data: ReferenceData, keys: readonly SecretKey[]): ReferenceData {
  if (keys.length === 0) return data
  return {
    secret(name) {
      const found = data.secret(name)
      if (found === null) return null
      const isWithheld = (key: string): boolean => keys.some((each) => isSame(each, { name, key }))
      return {
        uid: found.uid,
        keys: found.keys,
        get: (key) => (isWithheld(key) ? null : found.get(key)),
      }
    },
    configMap: (name) => data.configMap(name),
  }
}
