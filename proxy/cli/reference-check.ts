// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { checkChains } from '../config/check-chains.ts'
import { checkServing } from '../config/checks.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import { SpecError } from '../chain/document.ts'
import type { ChainCatalog } from '../chain/types.ts'
import type { ParsedConfig } from '../config/parse.ts'
import { gather, type Problem } from '../config/problem.ts'
import { readTls, TlsFileError } from '../upstream/wire/upstream-target.ts'
import { checkSockets, type SocketFacts } from '../config/socket-check.ts'
import { subscriptionFormOf } from '../subscription/families/family-of.ts'
import type { CheckReferences } from './judged-config.ts'

/**
 * Checks a config against what it refers to, chain specs and TLS files, and keeps the specs for the
 * run that follows.
 */
export interface ReferenceCheck {
  readonly check: CheckReferences
  /** The specs of the last check; null before it, or when they could not be used. */
  catalog(): ChainCatalog | null
}

export function createReferenceCheck(): ReferenceCheck {
  let catalog: ChainCatalog | null = null
  return {
    async check(parsed) {
      try {
        const chains = await loadCatalog(parsed.specSources)
        catalog = chains
        const locate = (path: string) => parsed.locate(path)
        const found = [
          ...checkChains(parsed.entries, chains, locate),
          ...gather(locate, (report) => {
            checkServing(parsed.entries, (id) => chains.find(id)?.id ?? null, locate, report)
          }),
          ...checkTlsFiles(parsed),
        ]
        if (!parsed.config) return found
        return [...found, ...checkSockets(parsed.config, socketFacts(chains), locate)]
      } catch (error) {
        if (!(error instanceof SpecError)) throw error
        return error.problems
      }
    },
    catalog: () => catalog,
  }
}

function socketFacts(chains: ChainCatalog): SocketFacts {
  return {
    chainIdOf: (written) => chains.find(written)?.id ?? null,
    subscribes(chainId, apiInterface) {
      const chain = chains.find(chainId)
      const offered = chain?.interfaces.get(apiInterface)
      return chain !== null && offered !== undefined && subscriptionFormOf(chain, offered) !== null
    },
  }
}

/** Reads the TLS files that the upstreams name, and reports those that cannot be used. */
function checkTlsFiles({ entries, locate }: ParsedConfig): readonly Problem[] {
  return gather(locate, (report) => {
    for (const { path, entry } of entries.upstreams.flatMap(({ urls }) => urls)) {
      const tls = entry['auth-config']?.tls
      try {
        if (tls !== undefined) readTls(tls)
      } catch (error) {
        if (!(error instanceof TlsFileError)) throw error
        report(`${path}.auth-config.tls.${error.key}`, error.reason)
      }
    }
  })
}
