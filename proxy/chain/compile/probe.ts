// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { durationMs } from '../native/schema.ts'
import { partsOf } from '../native/extend.ts'
import type { NativeInterface, NativeProbe } from '../native/schema.ts'
import type { ProbeCall, ResultPath, Verification } from '../types.ts'

/** Prefixes of method names by prefixes under which the same methods are known as well. */
export type Aliases = NonNullable<NativeInterface['aliases']>

/**
 * The other names of a method or path whose beginning has an alias, from either side:
 * `/sdk/bank/v1beta1/supply` and `/cosmos/bank/v1beta1/supply`.
 */
export function otherNames(name: string, aliases: Aliases = {}): string[] {
  const names = Object.entries(aliases).flatMap(([prefix, alias]) => {
    if (name.startsWith(alias)) return [prefix + name.slice(alias.length)]
    // The root itself: `/` is `/v1`, not `/v1/`.
    if (name === prefix && alias.startsWith(prefix)) return [alias.replace(/\/$/, '')]
    return name.startsWith(prefix) ? [alias + name.slice(prefix.length)] : []
  })
  return [...new Set(names)].filter((other) => other !== name)
}

/** The complete request of a probe. */
export function compileProbe(
  apiInterface: ApiInterface,
  probe: NativeProbe,
  encoding: ResultPath['encoding'],
  aliases?: Aliases,
): ProbeCall {
  const { method = '', path = '', body = null } = probe
  const result = { path: probe.result ?? [], encoding: probe.encoding ?? encoding }
  const timeoutMs = probe.timeout === undefined ? null : durationMs(probe.timeout)
  if (apiInterface === 'rest') {
    const call = { verb: body === null ? 'GET' : 'POST', body: body === '' ? null : body }
    return { ...call, path, otherPaths: otherNames(path, aliases), result, timeoutMs }
  }
  if (apiInterface === 'grpc') {
    const otherPaths = otherNames(method, aliases).map((name) => `/${name}`)
    return { verb: 'POST', path: `/${method}`, otherPaths, body: null, result, timeoutMs }
  }
  const call = { jsonrpc: '2.0', id: 1, method, params: probe.params ?? [] }
  return { verb: 'POST', path, body: body ?? JSON.stringify(call), result, timeoutMs }
}

/** What an upstream must show before it serves, of an interface and its add-ons. */
export function compileVerifications(
  apiInterface: ApiInterface,
  spec: NativeInterface,
): Verification[] {
  return partsOf(spec).flatMap(({ addon, part }) =>
    Object.entries(part.verifications ?? {}).map(([name, verification]) => ({
      name,
      addon,
      call: compileProbe(apiInterface, verification, 'text', spec.aliases),
      expected: verification.expected ?? null,
      severity: verification.severity ?? 'fail',
    })),
  )
}
