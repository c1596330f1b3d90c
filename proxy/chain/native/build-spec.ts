// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiInterfaces } from '../../config/types.ts'
import type { ApiInterface } from '../../config/types.ts'
import { methodKey } from '../chain-spec.ts'
import type { ChainSpec, InterfaceSpec, MethodSpec } from '../chain-spec.ts'
import { namesHeight } from '../question-at.ts'
import type { SpecProblem } from '../spec-error.ts'
import type { Finality, ProbeCall, Verification } from '../types.ts'
import { buildMethod, splitName } from './build-method.ts'
import { buildProbe, buildVerification } from './build-probe.ts'
import { durationMs } from './duration.ts'
import type { NativeInterface, NativeSpec } from './schema.ts'

/** Places a problem in the file: by path, with what is wrong and what would be right. */
export type Complain = (path: readonly (string | number)[], message: string, hint?: string) => void

/** Lays a native spec over the one that it extends. Problems go to `complain`. */
export function buildSpec(
  native: NativeSpec,
  base: ChainSpec | null,
  complain: Complain,
): ChainSpec | null {
  const interfaces = new Map(base?.interfaces)
  for (const apiInterface of apiInterfaces) {
    const own = native.interfaces?.[apiInterface]
    if (own === undefined) continue
    const inherited = base?.interfaces.get(apiInterface) ?? emptyInterface(apiInterface)
    const within: Complain = (path, ...text) =>
      complain(['interfaces', apiInterface, ...path], ...text)
    interfaces.set(apiInterface, buildInterface(own, inherited, within))
  }
  const blockTime = native['block-time']
  const name = native.name ?? base?.name
  const family = native.family ?? base?.family
  const blockTimeMs = blockTime === undefined ? base?.blockTimeMs : durationMs(blockTime)
  const allowedLagBlocks = native['allowed-lag'] ?? base?.allowedLagBlocks
  const finality = native.finality === undefined ? base?.finality : finalityOf(native.finality)
  const required = {
    name,
    family,
    'block-time': blockTimeMs,
    'allowed-lag': allowedLagBlocks,
    finality,
  }
  for (const [key, value] of Object.entries(required))
    if (value === undefined)
      complain([key], 'is missing.', `A chain that extends no other must have \`${key}\`.`)
  if (interfaces.size === 0)
    complain(
      ['interfaces'],
      'is missing.',
      `A chain needs at least one of ${apiInterfaces.join(', ')}.`,
    )
  if (
    name === undefined ||
    family === undefined ||
    blockTimeMs === undefined ||
    allowedLagBlocks === undefined ||
    finality === undefined
  )
    return null
  const failures = native.failures ?? base?.failures ?? [family]
  return {
    id: native.id,
    aliases: native.aliases ?? [],
    name,
    family,
    blockTimeMs,
    allowedLagBlocks,
    finality,
    failures,
    blockWords: new Map([
      ...(base?.blockWords ?? []),
      ...Object.entries(native['block-words'] ?? {}),
    ]),
    interfaces,
  }
}

function finalityOf(finality: NonNullable<NativeSpec['finality']>): Finality {
  return typeof finality === 'number'
    ? { kind: 'distance', blocks: finality }
    : { kind: 'tag', tag: finality }
}

function emptyInterface(apiInterface: ApiInterface): InterfaceSpec {
  return {
    apiInterface,
    addons: new Set(),
    archiveAfterBlocks: null,
    impliedVersion: null,
    requestHeaders: new Set(),
    responseHeaders: new Set(),
    blockHeaders: [],
    aliases: new Map(),
    latestBlock: null,
    blockTimeQuestion: null,
    isBlockTimeOptional: false,
    blockHashQuestion: null,
    verifications: [],
    unaskedVerifications: new Set(),
    methods: new Map(),
  }
}

function buildInterface(
  own: NativeInterface,
  base: InterfaceSpec,
  complain: Complain,
): InterfaceSpec {
  const aliases = new Map([...base.aliases, ...Object.entries(own.aliases ?? {})])
  const probe = own['latest-block']
  const latestBlock =
    probe === undefined
      ? base.latestBlock
      : buildProbe(base.apiInterface, probe, 'decimal', aliases)
  if (latestBlock === null && probe !== undefined)
    complain(['latest-block'], 'does not say what to ask.', probeHint(base.apiInterface))
  const questionAt = (key: 'block-time-at' | 'block-hash-at') =>
    buildQuestionAt(key, own[key], base.apiInterface, aliases, complain)
  if (own['implied-version'] !== undefined && base.apiInterface !== 'jsonrpc')
    complain(['implied-version'], 'is for jsonrpc only.', 'Leave it out.')
  const verifications = buildVerifications(own, base, aliases, complain)
  const methods = buildMethods(own, base, complain)
  refuseUnknownVerifications(own, verifications, complain)
  return {
    apiInterface: base.apiInterface,
    addons: new Set([...base.addons, ...Object.keys(own['add-ons'] ?? {})]),
    archiveAfterBlocks: own['archive-after'] ?? base.archiveAfterBlocks,
    impliedVersion: own['implied-version'] ?? base.impliedVersion,
    requestHeaders: new Set([...base.requestHeaders, ...(own['request-headers'] ?? [])]),
    responseHeaders: new Set([...base.responseHeaders, ...(own['response-headers'] ?? [])]),
    blockHeaders: own['block-headers'] ?? base.blockHeaders,
    aliases,
    latestBlock,
    blockTimeQuestion: questionAt('block-time-at') ?? base.blockTimeQuestion,
    isBlockTimeOptional: own['optional-block-time'] ?? base.isBlockTimeOptional,
    blockHashQuestion: questionAt('block-hash-at') ?? base.blockHashQuestion,
    verifications,
    unaskedVerifications: new Set([
      ...base.unaskedVerifications,
      ...(own['unasked-verifications'] ?? []),
    ]),
    methods,
  }
}

/** A question about the block of a height; null where the interface says none itself. */
function buildQuestionAt(
  key: 'block-time-at' | 'block-hash-at',
  native: NativeInterface['block-time-at'],
  apiInterface: ApiInterface,
  aliases: ReadonlyMap<string, string>,
  complain: Complain,
): ProbeCall | null {
  if (native === undefined) return null
  const probe = buildProbe(apiInterface, native, 'text', aliases)
  if (probe === null || !namesHeight(probe))
    complain(
      [key],
      'does not ask for the block of a height.',
      `${probeHint(apiInterface)} In it, 0x%x or %d stands for the height, and the parameter "%n" for it as a number.`,
    )
  return probe
}

/** The parts of an interface: the standard set, and each add-on's. */
function partsOf(own: NativeInterface) {
  const addons = Object.entries(own['add-ons'] ?? {})
  return [
    { addon: null, at: [] as string[], part: own },
    ...addons.map(([addon, part]) => ({ addon, at: ['add-ons', addon], part })),
  ]
}

function buildMethods(
  own: NativeInterface,
  base: InterfaceSpec,
  complain: Complain,
): Map<string, MethodSpec> {
  const { apiInterface } = base
  const tipHeader = own['tip-header'] ?? null
  const methods = new Map(withoutChecks(base.methods, own['without-checks'] ?? [], complain))
  for (const [index, name] of (own.without ?? []).entries()) {
    const named = splitName(apiInterface, name)
    if (named === null || !methods.delete(methodKey({ ...named, internalPath: '' })))
      complain(['without', index], `there is no method \`${name}\` to leave out.`)
  }
  const placed = new Set<string>()
  for (const { addon, at, part } of partsOf(own))
    for (const [name, native] of Object.entries(part.methods ?? {})) {
      const method = buildMethod(
        apiInterface,
        name,
        native,
        addon,
        tipHeader,
        own['behind-tip'] ?? {},
      )
      const path = [...at, 'methods', name]
      if (method === null) {
        complain(path, `is no name of a ${apiInterface} method.`, nameHint(apiInterface))
        continue
      }
      const key = methodKey(method)
      if (placed.has(key)) complain(path, 'is named twice in this interface.')
      placed.add(key)
      methods.set(key, method)
    }
  return methods
}

/** Inherited methods without the checks of these words. */
function withoutChecks(
  methods: InterfaceSpec['methods'],
  words: readonly string[],
  complain: Complain,
): InterfaceSpec['methods'] {
  if (words.length === 0) return methods
  const rules = [...methods.values()].flatMap(({ checks }) => checks)
  for (const [index, word] of words.entries())
    if (!rules.some(({ check }) => check === word))
      complain(['without-checks', index], `there is no check \`${word}\` to leave out.`)
  return new Map(
    [...methods].map(([key, method]) => {
      const checks = method.checks.filter(({ check }) => !words.includes(check))
      return [key, { ...method, checks }]
    }),
  )
}

function buildVerifications(
  own: NativeInterface,
  base: InterfaceSpec,
  aliases: InterfaceSpec['aliases'],
  complain: Complain,
): Verification[] {
  const key = (name: string, addon: string | null) => `${addon ?? ''} ${name}`
  const all = new Map(base.verifications.map((each) => [key(each.name, each.addon), each]))
  for (const { addon, at, part } of partsOf(own))
    for (const [name, native] of Object.entries(part.verifications ?? {})) {
      const inherited = all.get(key(name, addon)) ?? null
      const within = { apiInterface: base.apiInterface, name, addon, aliases }
      const built = buildVerification(within, native, inherited)
      if (built === null)
        complain(
          [...at, 'verifications', name],
          'does not say what to ask.',
          probeHint(base.apiInterface),
        )
      else all.set(key(name, addon), built)
    }
  return [...all.values()]
}

/** A check may only want the value of a verification that there is. */
function refuseUnknownVerifications(
  own: NativeInterface,
  verifications: readonly Verification[],
  complain: Complain,
): void {
  const known = verifications.filter((each) => each.addon === null && each.expected !== null)
  const names = known.map((each) => each.name)
  for (const { at, part } of partsOf(own))
    for (const [name, method] of Object.entries(part.methods ?? {}))
      for (const [index, check] of (method.checks ?? []).entries()) {
        if (check.check !== 'expected' || names.includes(check.verification)) continue
        complain(
          [...at, 'methods', name, 'checks', index, 'verification'],
          `there is no verification \`${check.verification}\` that expects a value.`,
          names.length === 0 ? 'Add it to `verifications`.' : `There are: ${names.join(', ')}.`,
        )
      }
}

function probeHint(apiInterface: ApiInterface): string {
  return apiInterface === 'rest'
    ? 'Give a `path`.'
    : 'Give a `method`, and `params` if it takes any.'
}

function nameHint(apiInterface: ApiInterface): string {
  if (apiInterface === 'rest') return 'Write the verb and the path: `GET /blocks/{height}`.'
  if (apiInterface === 'grpc') return 'Write `package.Service/Method`.'
  return 'A method name has no spaces.'
}

/** Makes a `Complain` for one file that collects into `problems`. */
export function complainInto(
  problems: SpecProblem[],
  document: { readonly file: string; line(path: readonly (string | number)[]): number | null },
): Complain {
  return (path, message, hint) =>
    problems.push({
      file: document.file,
      line: document.line(path),
      path: path.join('.'),
      message,
      hint: hint ?? null,
    })
}
