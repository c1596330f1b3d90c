// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import type { ProbeCall, ResultPath, Verification } from '../types.ts'
import { durationMs } from './duration.ts'
import type { NativeProbe, NativeVerification } from './schema.ts'

/** The complete request of a probe; null when the spec does not say what to ask. */
export function buildProbe(
  apiInterface: ApiInterface,
  probe: NativeProbe,
  encoding: ResultPath['encoding'],
): ProbeCall | null {
  const result = { path: probe.result ?? [], encoding: probe.encoding ?? encoding }
  const timeoutMs = probe.timeout === undefined ? null : durationMs(probe.timeout)
  if (apiInterface === 'rest') {
    if (probe.path === undefined) return null
    return { verb: 'GET', path: probe.path, body: null, result, timeoutMs }
  }
  if (probe.method === undefined) return null
  if (apiInterface === 'grpc')
    return { verb: 'POST', path: `/${probe.method}`, body: null, result, timeoutMs }
  const { method, params = [] } = probe
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return { verb: 'POST', path: '', body, result, timeoutMs }
}

/** A verification; what it does not say itself, it takes from the one that it extends. */
export function buildVerification(
  apiInterface: ApiInterface,
  name: string,
  addon: string | null,
  native: NativeVerification,
  base: Verification | null,
): Verification | null {
  const call = buildProbe(apiInterface, native, 'text') ?? base?.call ?? null
  if (call === null) return null
  return {
    name,
    addon,
    call,
    expected: native.expected ?? base?.expected ?? null,
    severity: native.severity ?? base?.severity ?? 'fail',
  }
}
