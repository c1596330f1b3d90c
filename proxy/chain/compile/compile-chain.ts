// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ApiInterface, apiInterfaces } from '../../config/types.ts'
import type { FailureTable } from '../failure-table.ts'
import { interfaceParts } from '../native/extend.ts'
import {
  type NativeInterface,
  type NativeProbe,
  type NativeSpec,
  durationMs,
} from '../native/schema.ts'
import type { Chain, ChainInterface, ProbeCall, ResultPath, Verification } from '../types.ts'
import { type Aliases, compileClassify, methodsOf, otherNames } from './classify.ts'

/** Compiles a spec with resolved inheritance. */
export function compileChain(spec: NativeSpec, failures: FailureTable): Omit<Chain, 'ownFile'> {
  const { id, aliases = [], name = id, family = 'other', finality = 'finalized' } = spec
  return {
    id,
    aliases,
    name,
    family,
    blockTimeMs: durationMs(spec['block-time'] ?? '1s'),
    allowedLagBlocks: spec['allowed-lag'] ?? 0,
    finality,
    cacheable: spec.cacheable ?? true,
    interfaces: new Map(
      apiInterfaces.flatMap((each) => {
        const own = spec.interfaces?.[each]
        return own === undefined ? [] : [[each, compileInterface(spec, each, own)] as const]
      }),
    ),
    failures,
  }
}

function compileInterface(
  chain: NativeSpec,
  apiInterface: ApiInterface,
  spec: NativeInterface,
): ChainInterface {
  const methods = methodsOf(spec)
  const verifications = compileVerifications(apiInterface, spec)
  const { syncing, 'latest-block': latest, 'latest-time': time, 'oldest-block': oldest } = spec
  return {
    apiInterface,
    addons: new Set(Object.keys(spec['add-ons'] ?? {})),
    archiveAfterBlocks: spec['archive-after'] ?? null,
    impliedVersion: spec['implied-version'] ?? null,
    requestHeaders: new Set(spec['request-headers']),
    responseHeaders: new Set(spec['response-headers']),
    latestBlock: latest ? compileProbe(apiInterface, latest, 'decimal', spec.aliases) : null,
    tagBlocks: new Map(
      (['safe', 'finalized'] as const).flatMap((tag) => {
        const call = spec[`${tag}-block`]
        return call ? [[tag, compileProbe(apiInterface, call, 'decimal', spec.aliases)]] : []
      }),
    ),
    syncing: syncing ? compileProbe(apiInterface, syncing, 'text', spec.aliases) : null,
    latestTime: time ? compileProbe(apiInterface, time, 'text', spec.aliases) : null,
    oldestBlock: oldest
      ? {
          ...compileProbe(apiInterface, oldest, 'decimal', spec.aliases),
          kinds: oldest.kinds ?? {},
        }
      : null,
    verifications,
    verificationNames: new Set([
      ...verifications.map(({ name }) => name),
      ...(spec['unasked-verifications'] ?? []),
    ]),
    internalPaths: new Set(
      methods.flatMap(({ method: { 'internal-path': path } }) => (path ? [path] : [])),
    ),
    methods: new Set(methods.map(({ name }) => name)),
    aliases: new Map(Object.entries(spec.aliases ?? {})),
    classify: compileClassify(chain, apiInterface, spec),
  }
}

function compileProbe(
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

/** Verifications of an interface and its add-ons. An upstream must pass them to serve calls. */
function compileVerifications(apiInterface: ApiInterface, spec: NativeInterface): Verification[] {
  return interfaceParts(spec).flatMap(({ addon, part }) =>
    Object.entries(part.verifications ?? {}).map(([name, verification]) => ({
      name,
      addon,
      call: compileProbe(apiInterface, verification, 'text', spec.aliases),
      expected: verification.expected ?? null,
      severity: verification.severity ?? 'fail',
    })),
  )
}
