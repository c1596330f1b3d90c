// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { apiInterfaces } from '../../config/types.ts'
import type { NativeInterface, NativeMethod, NativeSpec, NativeVerification } from './schema.ts'

/** Methods and verifications of an interface, or of one of its add-ons. */
export interface NativePart {
  readonly methods?: Record<string, NativeMethod> | undefined
  readonly verifications?: Record<string, NativeVerification> | undefined
}

/** The parts of an interface, with their paths in the file: the standard set, then each add-on. */
export function interfaceParts(
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

/** Merges a spec over its base. Omitted keys are inherited. */
export function extendSpec(base: NativeSpec, own: NativeSpec): NativeSpec {
  const interfaces = { ...base.interfaces }
  for (const name of apiInterfaces) {
    const [lower, upper] = [base.interfaces?.[name], own.interfaces?.[name]]
    if (upper) interfaces[name] = lower ? extendInterface(lower, upper) : upper
  }
  return {
    ...base,
    ...own,
    // A chain with a different id does not inherit aliases.
    aliases: own.aliases ?? (own.id.toLowerCase() === base.id.toLowerCase() ? base.aliases : []),
    'block-words': { ...base['block-words'], ...own['block-words'] },
    interfaces,
  }
}

function extendInterface(base: NativeInterface, own: NativeInterface): NativeInterface {
  const addonByMethod = new Map(
    interfaceParts(own).flatMap(({ addon, part }) =>
      Object.keys(part.methods ?? {}).map((name) => [name, addon] as const),
    ),
  )
  const extendPart = (lower: NativePart, upper: NativePart, addon: string | null) => ({
    // Methods that are omitted, or that move to another part, are not inherited.
    methods: {
      ...Object.fromEntries(
        Object.entries(lower.methods ?? {})
          .filter(([name]) => !own.without?.includes(name))
          .filter(([name]) => !addonByMethod.has(name) || addonByMethod.get(name) === addon)
          .map(([name, method]) => [name, withoutChecks(method, own['without-checks'])]),
      ),
      ...upper.methods,
    },
    verifications: {
      ...lower.verifications,
      ...Object.fromEntries(
        Object.entries(upper.verifications ?? {}).map(([name, verification]) => [
          name,
          extendVerification(lower.verifications?.[name] ?? {}, verification),
        ]),
      ),
    },
  })
  const [lower, upper] = [base['add-ons'] ?? {}, own['add-ons'] ?? {}]
  const addons = Object.keys({ ...lower, ...upper }).map((name) => [
    name,
    extendPart(lower[name] ?? {}, upper[name] ?? {}, name),
  ])
  const both = (key: 'request-headers' | 'response-headers' | 'unasked-verifications') => [
    ...(base[key] ?? []),
    ...(own[key] ?? []),
  ]
  return {
    ...base,
    ...own,
    ...extendPart(base, own, null),
    'add-ons': Object.fromEntries(addons) as NonNullable<NativeInterface['add-ons']>,
    'request-headers': both('request-headers'),
    'response-headers': both('response-headers'),
    'unasked-verifications': both('unasked-verifications'),
    aliases: { ...base.aliases, ...own.aliases },
  }
}

function withoutChecks(method: NativeMethod, dropped: readonly string[] = []): NativeMethod {
  if (dropped.length === 0) return method
  return { ...method, checks: method.checks?.filter(({ check }) => !dropped.includes(check)) }
}

/** A verification without a method or path inherits the request. */
function extendVerification(base: NativeVerification, own: NativeVerification): NativeVerification {
  if (own.method === undefined && own.path === undefined) return { ...base, ...own }
  const { expected, severity } = base
  return { expected, severity, ...own }
}
