// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainUse } from '../../proxy/config/check-chains.ts'
import { checkChains, type KnownChains } from '../../proxy/config/check-chains.ts'
import type { Problem } from '../../proxy/config/problem.ts'
import type { SocketFacts } from '../../proxy/config/socket-check.ts'
import type { SpecSource } from '../api/spec-sources.ts'
import { type OwnSpec, readOwnSpec } from './own-spec.ts'
import { type SpecsRead, usesBundledSpecsAlone } from './spec-source-section.ts'
import type { ConfigRefusal } from './violation.ts'

/** What a config asks of chains that they do not have, as far as it can be told without compiling a spec. */
export type ChainCheck = (uses: readonly ChainUse[]) => readonly Problem[]

export interface JudgedSpecs {
  readonly refusals: readonly ConfigRefusal[]
  readonly check: ChainCheck
  /** Whether clients can subscribe; null where only the router knows. */
  readonly subscribes: SocketFacts['subscribes']
}

/**
 * Judges the chain specs of a router.
 *
 * @param image what the specs of the image have
 */
export function judgeSpecs(
  sources: readonly SpecSource[] | undefined,
  { texts, areAll }: SpecsRead,
  image: KnownChains,
): JudgedSpecs {
  if (usesBundledSpecsAlone(sources))
    return {
      refusals: [],
      check: (uses) => checkChains(uses, image, () => null),
      subscribes: (chainId, apiInterface) =>
        image.find(chainId)?.interfaces.get(apiInterface)?.subscribes ?? null,
    }
  const refusals: ConfigRefusal[] = []
  const specs: OwnSpec[] = []
  for (const text of texts) {
    const spec = readOwnSpec(text)
    specs.push(spec)
    if (spec.fault !== null) {
      const message = `the key ${text.key} of the ConfigMap ${text.configMap} is no chain spec: it ${spec.fault}`
      refusals.push({ reason: 'InvalidConfig', field: text.field, message })
    }
  }
  const own = areAll ? namesOf(specs) : null
  const subscribes = () => null
  if (own === null) return { refusals, check: () => [], subscribes }
  const isBundled = sources?.some(({ type }) => type === 'Bundled') ?? true
  return { refusals, check: checkAmong(own, isBundled ? image : null), subscribes }
}

/** How all chains of these specs are called; null when that is not known of one. */
function namesOf(specs: readonly OwnSpec[]): readonly string[] | null {
  const names: string[] = []
  for (const spec of specs) {
    if (spec.fault !== null || spec.chains === null) return null
    names.push(...spec.chains)
  }
  return names
}

/** Knows of a chain of one's own that it is there, and no more: its spec is compiled when a pod starts. */
function checkAmong(own: readonly string[], image: KnownChains | null): ChainCheck {
  const ours = new Set(own.map((name) => name.toUpperCase()))
  const known: KnownChains = {
    ids: [...own, ...(image?.ids ?? [])],
    find: (id) => image?.find(id) ?? null,
  }
  return (uses) =>
    checkChains(
      uses.filter(({ chainId }) => !ours.has(chainId.toUpperCase())),
      known,
      () => null,
    )
}
