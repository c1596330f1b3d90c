// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { selects } from '../api/labels.ts'
import type { RpcRouter } from '../api/rpc-router.ts'
import type { KubeObject } from '../kube/object.ts'
import { type BuildContext, buildFleet } from '../resources/build-children.ts'
import { buildRedis } from '../resources/redis.ts'
import { type KeyedData, type ReferenceData, standIn } from '../translate/reference-data.ts'
import { chainNames } from '../translate/router-document.ts'
import { notesOfProvider } from '../translate/router-refusals.ts'
import { ownRedisOf } from '../translate/state-store.ts'
import { validateProvider, translate } from '../translate/translate.ts'
import { violationText } from '../translate/translation.ts'
import type { ManifestSet } from './read-manifests.ts'
import { type Violation } from '../translate/violations.ts'
import { type TranslateInput } from '../translate/translate-input.ts'

/** The result of rendering manifests. */
export interface RenderedManifests {
  /** Objects to apply. The values of Secrets are unknown. */
  readonly objects: readonly KubeObject[]
  /** Problems that prevent acceptance: `RpcRouter rpc/mainnet: …`. */
  readonly problems: readonly string[]
  /** Effects that owners may not expect, as noted in the condition Accepted. */
  readonly warnings: readonly string[]
}

/**
 * Renders manifests as the operator does for new objects. A Secret that the manifests lack counts
 * as present, with every requested key.
 */
export function renderManifests(
  manifests: ManifestSet,
  bundled: TranslateInput['bundled'],
  options: Pick<BuildContext, 'images' | 'monitors' | 'allowLinkLocal'>,
): RenderedManifests {
  const build = { ...options, chainIdOf: chainNames(bundled.catalog) }
  const objects: KubeObject[] = []
  const problems: string[] = []
  const warnings: string[] = []
  const note = (
    what: string,
    { refusals, unresolvedRefs }: Record<'refusals' | 'unresolvedRefs', readonly Violation[]>,
  ) =>
    problems.push(
      ...[...refusals, ...unresolvedRefs].map((each) => `${what}: ${violationText(each)}`),
    )
  const selected = new Set<string>()
  for (const router of manifests.routers.map(withUid)) {
    const { namespace, name } = router.metadata
    const providers = manifests.providers.filter(
      ({ metadata }) =>
        metadata.namespace === namespace && selects(router.spec.providerSelector, metadata.labels),
    )
    const refused = manifests.refusedProviders
      .filter(
        (each) =>
          each.namespace === namespace && selects(router.spec.providerSelector, each.labels),
      )
      .map((each) => ({ name: each.name, faults: '' }))
    const data = dataOf(manifests, namespace)
    const translation = translate({
      router,
      providers,
      unreadable: refused,
      data,
      bundled,
      allowLinkLocal: options.allowLinkLocal,
    })
    note(`RpcRouter ${namespace}/${name}`, translation)
    warnings.push(...translation.notes.map((text) => `RpcRouter ${namespace}/${name}: ${text}`))
    for (const { provider, refusals, unresolvedRefs } of translation.providers) {
      // The problems of invalid providers are reported with their files.
      if (refused.some(({ name: other }) => other === provider)) continue
      selected.add(`${namespace}/${provider}`)
      note(`UpstreamProvider ${namespace}/${provider}`, { refusals, unresolvedRefs })
    }
    if (translation.config !== null)
      objects.push(
        ...ownRedisOf(router.spec).flatMap((redis) => buildRedis(router, redis, standIn, build)),
        ...buildFleet(router, translation.config, build),
      )
  }
  for (const provider of manifests.providers) {
    const { namespace, name } = provider.metadata
    const notes = notesOfProvider(provider)
    warnings.push(...notes.map((text) => `UpstreamProvider ${namespace}/${name}: ${text}`))
    if (selected.has(`${namespace}/${name}`)) continue
    const data = dataOf(manifests, namespace)
    note(
      `UpstreamProvider ${namespace}/${name}`,
      validateProvider(provider, data, bundled, options.allowLinkLocal),
    )
  }
  return { objects, problems: [...new Set(problems)], warnings }
}

/** Adds a placeholder uid for owner references, because only the API server assigns uids. */
function withUid(router: RpcRouter): RpcRouter {
  const uid = router.metadata.uid || '00000000-0000-0000-0000-000000000000'
  return { ...router, metadata: { ...router.metadata, uid } }
}

const anyKey: KeyedData = { keys: [], get: () => standIn }

function dataOf({ secrets, configMaps }: ManifestSet, namespace: string): ReferenceData {
  return {
    secret: (name) => secrets.get(`${namespace}/${name}`) ?? anyKey,
    configMap: (name) => configMaps.get(`${namespace}/${name}`) ?? null,
  }
}
