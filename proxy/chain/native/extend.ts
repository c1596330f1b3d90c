// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiInterfaces } from '../../config/types.ts'
import type { NativeInterface, NativeMethod, NativeSpec, NativeVerification } from './schema.ts'

/** The methods and verifications of an interface, or of one of its add-ons. */
export interface NativePart {
  readonly methods?: Record<string, NativeMethod> | undefined
  readonly verifications?: Record<string, NativeVerification> | undefined
}

/** The parts of an interface: the standard set, then each add-on's; with their places in the file. */
export function partsOf(
  own: NativeInterface,
): { readonly addon: string | null; readonly at: readonly string[]; readonly part: NativePart }[] {
  return [
    { addon: null, at: [], part: own },
    ...Object.entries(own['add-ons'] ?? {}).map(([addon, part]) => ({
      addon,
      at: ['add-ons', addon],
      part,
    })),
  ]
}

/** A spec laid over the one that it extends: what it does not say is as it is there. */
export function extendSpec(base: NativeSpec, own: NativeSpec): NativeSpec {
  const interfaces = { ...base.interfaces }
  for (const name of apiInterfaces) {
    const [lower, upper] = [base.interfaces?.[name], own.interfaces?.[name]]
    if (upper) interfaces[name] = lower ? extendInterface(lower, upper) : upper
  }
  return {
    ...base,
    ...own,
    aliases: own.aliases ?? [],
    'block-words': { ...base['block-words'], ...own['block-words'] },
    interfaces,
  }
}

function extendInterface(base: NativeInterface, own: NativeInterface): NativeInterface {
  const inherited = withoutReplaced(base, own)
  const [lower, upper] = [inherited['add-ons'] ?? {}, own['add-ons'] ?? {}]
  const addons = Object.keys({ ...lower, ...upper }).map((name) => [
    name,
    extendPart(lower[name] ?? {}, upper[name] ?? {}),
  ])
  const both = (key: 'request-headers' | 'response-headers' | 'unasked-verifications') => [
    ...(base[key] ?? []),
    ...(own[key] ?? []),
  ]
  return {
    ...base,
    ...own,
    ...extendPart(inherited, own),
    'add-ons': Object.fromEntries(addons) as NonNullable<NativeInterface['add-ons']>,
    'request-headers': both('request-headers'),
    'response-headers': both('response-headers'),
    'unasked-verifications': both('unasked-verifications'),
    aliases: { ...base.aliases, ...own.aliases },
  }
}

/** What is left of an interface when another leaves methods out, or has them in another part. */
function withoutReplaced(base: NativeInterface, own: NativeInterface): NativeInterface {
  const dropped = own['without-checks'] ?? []
  const left = (part: NativePart, addon: string | null) => {
    const elsewhere = partsOf(own).filter((each) => each.addon !== addon)
    const gone = new Set([
      ...(own.without ?? []),
      ...elsewhere.flatMap((each) => Object.keys(each.part.methods ?? {})),
    ])
    const methods = Object.entries(part.methods ?? {})
      .filter(([name]) => !gone.has(name))
      .map(([name, method]): [string, NativeMethod] => {
        const checks = method.checks?.filter(({ check }) => !dropped.includes(check))
        return [name, dropped.length === 0 ? method : { ...method, checks }]
      })
    return { ...part, methods: Object.fromEntries(methods) }
  }
  const addons = Object.entries(base['add-ons'] ?? {}).map(([name, part]) => [
    name,
    left(part, name),
  ])
  return {
    ...base,
    ...left(base, null),
    'add-ons': Object.fromEntries(addons) as NonNullable<NativeInterface['add-ons']>,
  }
}

function extendPart(base: NativePart, own: NativePart) {
  const verifications = { ...base.verifications }
  for (const [name, verification] of Object.entries(own.verifications ?? {}))
    verifications[name] = extendVerification(verifications[name] ?? {}, verification)
  return { methods: { ...base.methods, ...own.methods }, verifications }
}

/** One that asks nothing itself keeps the question. */
function extendVerification(base: NativeVerification, own: NativeVerification): NativeVerification {
  if (own.method === undefined && own.path === undefined) return { ...base, ...own }
  const { expected, severity } = base
  return { expected, severity, ...own }
}
