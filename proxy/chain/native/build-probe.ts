// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import type { ProbeCall, ResultPath, Verification } from '../types.ts'
import { otherNames } from '../other-names.ts'
import type { Aliases } from '../other-names.ts'
import { durationMs } from './duration.ts'
import type { NativeProbe, NativeVerification } from './schema.ts'

/** The complete request of a probe; null when the spec does not say what to ask. */
export function buildProbe(
  apiInterface: ApiInterface,
  probe: NativeProbe,
  encoding: ResultPath['encoding'],
  aliases: Aliases,
): ProbeCall | null {
  const result = { path: probe.result ?? [], encoding: probe.encoding ?? encoding }
  const timeoutMs = probe.timeout === undefined ? null : durationMs(probe.timeout)
  if (apiInterface === 'rest') {
    if (probe.path === undefined) return null
    const otherPaths = otherNames(probe.path, aliases)
    return { verb: 'GET', path: probe.path, otherPaths, body: null, result, timeoutMs }
  }
  if (probe.method === undefined) return null
  if (apiInterface === 'grpc') {
    const path = `/${probe.method}`
    const otherPaths = otherNames(probe.method, aliases).map((name) => `/${name}`)
    return { verb: 'POST', path, otherPaths, body: null, result, timeoutMs }
  }
  const { method, params = [] } = probe
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return { verb: 'POST', path: '', body, result, timeoutMs }
}

/** Which verification of which interface. */
interface Within {
  readonly apiInterface: ApiInterface
  readonly name: string
  readonly addon: string | null
  readonly aliases: Aliases
}

/** A verification; what it does not say itself, it takes from the one that it extends. */
export function buildVerification(
  { apiInterface, name, addon, aliases }: Within,
  native: NativeVerification,
  base: Verification | null,
): Verification | null {
  const call = buildProbe(apiInterface, native, 'text', aliases) ?? base?.call ?? null
  if (call === null) return null
  return {
    name,
    addon,
    call,
    expected: native.expected ?? base?.expected ?? null,
    severity: native.severity ?? base?.severity ?? 'fail',
  }
}
