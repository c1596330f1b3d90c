// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import type { MethodSpec } from '../chain-spec.ts'
import type { ResultPath } from '../types.ts'
import { buildBlock } from './build-block.ts'
import { buildCheck } from './build-check.ts'
import { durationMs } from './duration.ts'
import type { NativeMethod } from './schema.ts'

/** A method with the defaults of the format; null when its name is none of the interface. */
export function buildMethod(
  apiInterface: ApiInterface,
  name: string,
  method: NativeMethod,
  addon: string | null,
  tipHeader: string | null,
  behindTip: MethodSpec['behindTip'],
): MethodSpec | null {
  const named = splitName(apiInterface, name)
  if (named === null) return null
  const kind = method.kind ?? 'read'
  return {
    ...named,
    internalPath: method['internal-path'] ?? '',
    kind,
    stateful: method.stateful ?? null,
    block: buildBlock(method.block),
    addon,
    cost: method.cost ?? 10,
    cacheable: method.cacheable ?? kind === 'read',
    deterministic: method.deterministic ?? kind === 'read',
    byHash: method['by-hash'] ?? false,
    waitsForBlock: method['waits-for-block'] ?? false,
    timeoutMs: method.timeout === undefined ? null : durationMs(method.timeout),
    tellsTip: tellsTip(method['tells-tip'], kind === 'read' ? tipHeader : null),
    behindTip,
    checks: (method.checks ?? []).map(buildCheck),
    answersJson: method.answer !== 'any',
    refusal: method.refusal ?? null,
  }
}

/** Where the answer tells the tip, if not in its own place then in the header that all have. */
function tellsTip(own: NativeMethod['tells-tip'], tipHeader: string | null): ResultPath | null {
  const { path = [], header = tipHeader, encoding = 'decimal', items } = own ?? {}
  if (own?.path !== undefined) return { path, encoding, ...(items && { items }) }
  return header === null ? null : { path, encoding, header }
}

/** Splits `GET /blocks/{height}`; for the other interfaces the name is the method. */
export function splitName(
  apiInterface: ApiInterface,
  name: string,
): { readonly name: string; readonly verb: string | null } | null {
  if (apiInterface === 'grpc') return /^[\w.]+\/\w+$/.test(name) ? { name, verb: null } : null
  if (apiInterface !== 'rest') return /\s/.test(name) ? null : { name, verb: null }
  const [, verb, path] = /^([A-Z]+) (\/\S*)$/.exec(name) ?? []
  return verb === undefined || path === undefined ? null : { name: path, verb }
}
