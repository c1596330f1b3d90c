// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { MethodRule } from '../chain/method-rule.ts'
import type { ChainInterface, MethodSpec } from '../chain/types.ts'
import type { Live } from '../config/types.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import type { Pool } from '../upstream/pool.ts'

/** Clients choose the names, so messages show a part of a long one. */
const maxShown = 100

/**
 * The interface as one listener serves it: classifying a call to a denied method throws a
 * RelayError. Every call begins with its classification, whatever its transport.
 * @param rule the lists of the endpoint; null: none
 */
export function withMethodRule(
  iface: ChainInterface,
  rule: Live<MethodRule | null>,
  pool: Pick<Pool, 'permits' | 'upstreams'>,
): ChainInterface {
  return {
    ...iface,
    classify(question) {
      const method = iface.classify(question)
      const why = denialOf(method, rule.now, pool)
      if (why === null) return method
      throw new RelayError(errorKinds.methodDenied, `${method.name.slice(0, maxShown)} ${why}`)
    },
  }
}

/** Why the method is not served, as the rest of a sentence; null if it is. */
function denialOf(
  { name, operatorOnly }: MethodSpec,
  rule: MethodRule | null,
  pool: Pick<Pool, 'permits' | 'upstreams'>,
): string | null {
  const permission = rule?.of(name)
  if (rule && permission?.isPermitted === false)
    return `is not served: ${rule.reason(name, 'the endpoint')}`
  if (operatorOnly === true && permission?.isNamed !== true)
    return 'is for operators of a node; `allowed-methods` of the endpoint must name it'
  if (pool.permits(name)) return null
  const [first, ...others] = pool.upstreams
  const reason = first?.methods?.reason(name, `the upstream ${first.name}`)
  return `is not served: ${reason}${others.length > 0 ? ', and all others exclude it too' : ''}`
}
