// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Endpoint } from '../api/endpoints.ts'
import { digest } from '../translate/digest.ts'

/** A name of a port has 15 characters at most. */
const interfaceLength = 4
const hashLength = 10

/**
 * What the ports of the pods are called: by what is served there, and not by the endpoint's name or number, which can
 * change. So the Service finds the listener in old pods as well as in new ones while a rollout goes on, and never
 * that of another chain.
 *
 * @param chainIdOf the id of a chain, for an alias of it as well
 * @returns a name for each endpoint, in their order
 */
export function listenerNames(
  endpoints: readonly Pick<Endpoint, 'chainId' | 'apiInterface'>[],
  chainIdOf: (chainId: string) => string,
): readonly string[] {
  const seen = new Map<string, number>()
  return endpoints.map(({ chainId, apiInterface }) => {
    const served = `${chainIdOf(chainId).toUpperCase()} ${apiInterface}`
    const before = seen.get(served) ?? 0
    seen.set(served, before + 1)
    const hash = digest([served, String(before)]).slice(0, hashLength)
    return `${apiInterface.slice(0, interfaceLength)}-${hash}`
  })
}
