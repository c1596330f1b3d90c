// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkMethods, classified } from '../chain/check-methods.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { anyChain, checkChains, type KnownChains } from '../config/checks/check-chains.ts'
import { checkServing } from '../config/checks/checks.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { gather, orderProblems, type Problem, whyUnreadable } from '../config/problem.ts'
import { checkSockets } from '../config/checks/socket-check.ts'
import { validateTls, type TlsFault } from '../config/tls-material.ts'
import type { RouterConfig } from '../config/types.ts'
import { subscriptionFormOf } from '../subscription/form-of.ts'

/** Dependencies of a config, as far as the caller can see. Unknown ones never cause a refusal. */
export interface Surroundings {
  /** The chain specs; null if the caller cannot see all of them. */
  readonly catalog: ChainCatalog | null
  /** Reads a file that the config names; null if the caller cannot see it. @throws if unreadable */
  readonly readText: (path: string) => string | null
}

/** A config with all its problems. */
export interface ValidatedConfig {
  /** Null if a problem is an error. */
  readonly config: RouterConfig | null
  /** Problems, including the parser's, in the order of the file. */
  readonly problems: readonly Problem[]
}

/**
 * Validates a config completely. The router at start and reload, `router validate`, the operator
 * and `rpc-operator validate` all call this function, so they accept the same configs.
 *
 * @param others problems of the chain specs themselves
 */
export function validateConfig(
  parsed: ParsedConfig,
  { catalog, readText }: Surroundings,
  others: readonly Problem[] = [],
): ValidatedConfig {
  const { entries, locate } = parsed
  const known = knownChains(catalog)
  const problems = orderProblems([
    ...parsed.problems,
    ...others,
    ...checkChains(entries, known, locate),
    ...(catalog
      ? [...checkServing(entries, catalog, locate), ...checkMethods(parsed, catalog)]
      : []),
    ...checkFiles(parsed, readText),
    ...checkSockets(parsed, known),
  ])
  const isValid = problems.every(({ severity }) => severity !== 'error')
  return { config: isValid ? parsed.config : null, problems }
}

/** Chains to check configs against; without visible specs, any chain may exist. */
export function knownChains(catalog: ChainCatalog | null): KnownChains {
  if (catalog === null) return anyChain
  return {
    ...catalog,
    subscribes(id, apiInterface) {
      const chain = catalog.find(id)
      const offered = chain?.interfaces.get(apiInterface)
      return chain && offered ? subscriptionFormOf(chain, offered) !== null : null
    },
    addonOf(id, apiInterface, method) {
      const offered = catalog.find(id)?.interfaces.get(apiInterface)
      return (offered && classified(offered, method)?.addon) ?? null
    },
  }
}

/** Reports TLS and password files that are unreadable or unusable. */
function checkFiles(
  { entries, config, locate }: ParsedConfig,
  readText: Surroundings['readText'],
): readonly Problem[] {
  const ofUpstreams = entries.upstreams
    .flatMap(({ urls }) => urls)
    .map(({ path, entry }) => [`${path}.auth-config.tls`, entry['auth-config']?.tls] as const)
  const stores = [
    ['resp-cache', config?.store],
    ['cache.resp-cache', config?.cache.store],
  ] as const
  const ofStores = stores.map(([path, store]) => [`${path}.tls`, store?.tls] as const)
  return gather(locate, (report) => {
    /** Undefined without a file, or if the file is invisible or unreadable. */
    const textOf = (path: string, file: string | null | undefined): string | undefined => {
      try {
        return file ? (readText(file) ?? undefined) : undefined
      } catch (error) {
        report(path, `${file} cannot be read: ${whyUnreadable(error)}`)
        return undefined
      }
    }
    for (const [path, tls] of [...ofUpstreams, ...ofStores]) {
      if (!tls) continue
      const read = (key: TlsFault['key']) => textOf(`${path}.${key}`, tls[key])
      const fault = validateTls({
        ca: read('ca-file'),
        cert: read('cert-file'),
        key: read('key-file'),
      })
      if (fault) report(`${path}.${fault.key}`, `${tls[fault.key]} ${fault.message}`)
    }
    for (const [path, store] of stores) textOf(`${path}.password-file`, store?.passwordFile)
  })
}
