// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { checkChains, type KnownChains } from '../config/check-chains.ts'
import { checkServing } from '../config/checks.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import { SpecError } from '../chain/document.ts'
import type { ChainCatalog } from '../chain/types.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { checkMethods, classified } from '../chain/check-methods.ts'
import { gather, type Problem, whyUnreadable } from '../config/problem.ts'
import { readTls, TlsFileError } from '../upstream/wire/upstream-target.ts'
import { checkSockets } from '../config/socket-check.ts'
import { subscriptionFormOf } from '../subscription/families/family-of.ts'
import type { CheckReferences } from './judged-config.ts'

/** Checks a config against what it refers to, chain specs and TLS files. */
export const checkReferences: CheckReferences = async (parsed, running = null) => {
  try {
    const catalog = running ?? (await loadCatalog(parsed.specSources))
    const known = knownOf(catalog)
    const { entries, locate } = parsed
    const problems = [
      ...checkChains(entries, known, locate),
      ...checkServing(entries, catalog, locate),
      ...checkMethods(parsed, catalog),
      ...checkFiles(parsed),
      ...checkSockets(parsed, known),
    ]
    return { problems, catalog }
  } catch (error) {
    if (!(error instanceof SpecError)) throw error
    return { problems: error.problems, catalog: null }
  }
}

function knownOf(catalog: ChainCatalog): KnownChains {
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

/** Reads the files for TLS and of passwords that upstreams and stores name, and reports those that cannot be used. */
function checkFiles({ entries, config, locate }: ParsedConfig): readonly Problem[] {
  const ofUpstreams = entries.upstreams
    .flatMap(({ urls }) => urls)
    .map(({ path, entry }) => [`${path}.auth-config.tls`, entry['auth-config']?.tls] as const)
  const stores = [
    ['resp-cache', config?.store],
    ['cache.resp-cache', config?.cache.store],
  ] as const
  const ofStores = stores.map(([path, store]) => [`${path}.tls`, store?.tls] as const)
  return gather(locate, (report) => {
    for (const [path, tls] of [...ofUpstreams, ...ofStores]) {
      try {
        if (tls) readTls(tls)
      } catch (error) {
        if (!(error instanceof TlsFileError)) throw error
        report(`${path}.${error.key}`, error.reason)
      }
    }
    for (const [path, store] of stores) {
      const file = store?.passwordFile ?? null
      try {
        if (file !== null) readFileSync(file)
      } catch (error) {
        report(`${path}.password-file`, `${file} cannot be read: ${whyUnreadable(error)}`)
      }
    }
  })
}
