// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiInterfaces, type ApiInterface } from '../../config/types.ts'
import type { Complain } from '../document.ts'
import { interfaceParts } from './extend.ts'
import {
  chainProbeNames,
  type NativeInterface,
  type NativeProbe,
  type NativeSpec,
} from './schema.ts'

/**
 * Validates what a schema cannot: that a merged spec is complete and consistent.
 * @param whole the spec merged over its base
 */
export function validateSpec(
  own: NativeSpec,
  base: NativeSpec | null,
  whole: NativeSpec,
  complain: Complain,
): void {
  for (const key of ['name', 'family', 'block-time', 'allowed-lag', 'finality'] as const)
    if (whole[key] === undefined)
      complain([key], 'is missing.', `A chain that extends no other must have \`${key}\`.`)
  if (Object.keys(whole.interfaces ?? {}).length === 0)
    complain(
      ['interfaces'],
      'is missing.',
      `A chain needs at least one of ${apiInterfaces.join(', ')}.`,
    )
  for (const name of apiInterfaces) {
    const [stated, complete] = [own.interfaces?.[name], whole.interfaces?.[name]]
    if (stated === undefined || complete === undefined) continue
    const within: Complain = (path, ...text) => complain(['interfaces', name, ...path], ...text)
    const below = base?.interfaces?.[name] ?? {}
    validateProbes(name, stated, complete, within)
    validateMethods(name, stated, below, within)
    validateChecks(stated, below, within)
  }
}

function validateProbes(
  apiInterface: ApiInterface,
  own: NativeInterface,
  whole: NativeInterface,
  complain: Complain,
): void {
  const hint =
    apiInterface === 'rest' ? 'Give a `path`.' : 'Give a `method`, and `params` if it takes any.'
  const asks = (probe: NativeProbe) =>
    (apiInterface === 'rest' ? probe.path : probe.method) !== undefined || probe.body !== undefined
  for (const key of chainProbeNames)
    if (own[key] !== undefined && !asks(own[key])) complain([key], 'names no request.', hint)
  if (own['implied-version'] !== undefined && apiInterface !== 'jsonrpc')
    complain(['implied-version'], 'is for jsonrpc only.', 'Leave it out.')
  const complete = new Map(
    interfaceParts(whole).map(({ addon, part }) => [addon, part.verifications]),
  )
  for (const { addon, at, part } of interfaceParts(own))
    for (const name of Object.keys(part.verifications ?? {}))
      if (!asks(complete.get(addon)?.[name] ?? {}))
        complain([...at, 'verifications', name], 'names no request.', hint)
}

const nameForms: Readonly<Record<ApiInterface, readonly [RegExp, string]>> = {
  jsonrpc: [/^\S+$/, 'A method name has no spaces.'],
  tendermintrpc: [/^\S+$/, 'A method name has no spaces.'],
  rest: [/^[A-Z]+ \/\S*$/, 'Write the verb and the path: `GET /blocks/{height}`.'],
  grpc: [/^[\w.]+\/\w+$/, 'Write `package.Service/Method`.'],
}

function validateMethods(
  apiInterface: ApiInterface,
  own: NativeInterface,
  base: NativeInterface,
  complain: Complain,
): void {
  const [form, hint] = nameForms[apiInterface]
  const named = new Set<string>()
  for (const { at, part } of interfaceParts(own))
    for (const name of Object.keys(part.methods ?? {})) {
      const path = [...at, 'methods', name]
      if (!form.test(name)) complain(path, `is no name of a ${apiInterface} method.`, hint)
      if (named.has(name)) complain(path, 'is named twice in this interface.')
      named.add(name)
    }
  for (const [index, name] of (own.without ?? []).entries())
    if (!interfaceParts(base).some(({ part }) => Object.hasOwn(part.methods ?? {}, name)))
      complain(['without', index], `there is no method \`${name}\` to leave out.`)
}

/** Reports `without-checks` entries that match no inherited check. */
function validateChecks(own: NativeInterface, base: NativeInterface, complain: Complain): void {
  const rules = interfaceParts(base).flatMap(({ part }) =>
    Object.values(part.methods ?? {}).flatMap(({ checks }) => checks ?? []),
  )
  for (const [index, word] of (own['without-checks'] ?? []).entries())
    if (!rules.some(({ check }) => check === word))
      complain(['without-checks', index], `there is no check \`${word}\` to leave out.`)
}
