// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { relaySettings } from './build.ts'
import type { ParsedConfig } from './parse.ts'
import { gather, type Problem } from './problem.ts'
import { exactText } from './secret.ts'

// Integrity checks are compiled once, at start.
const relaying = Object.values(relaySettings).filter((key) => key !== 'integrity')

/**
 * Keys that a running router reloads; `[]` stands for each list item. Any other key needs a new
 * process. The router, the operator and `docs/guides/changes.md` share this list.
 */
export const liveKeys: ReadonlySet<string> = new Set([
  'direct-rpc',
  'backup-direct-rpc',
  'cross-validation',
  'cache.policies',
  'logs',
  ...relaying,
  ...relaying.map((key) => `endpoints[].relay.${key}`),
  'endpoints[].allowed-methods',
  'endpoints[].denied-methods',
  'max-sessions-per-provider',
  'skip-websocket-verification',
  'env-file',
  'log-level',
  'log-format',
  'access-log',
])

/** How a change of a key such as `direct-rpc[].name` takes effect; null if its parts differ. */
export function changeOf(path: string): 'live' | 'restart' | null {
  const isIn = (inner: string, outer: string) => /^(?:$|\.|\[)/.test(inner.replace(outer, ''))
  const keys = [...liveKeys]
  if (keys.some((key) => path.startsWith(key) && isIn(path, key))) return 'live'
  return keys.some((key) => key.startsWith(path) && isIn(key, path)) ? null : 'restart'
}

/** Serialized parts that need a restart, by top-level key, for comparison. They contain secrets. */
export function fixedTexts(file: object): ReadonlyMap<string, string> {
  const fixed = Object.entries(file).map(([key, value]) => [key, fixedPart(value, key)] as const)
  return new Map(
    fixed.filter(([, value]) => value !== undefined).map(([key, value]) => [key, exactText(value)]),
  )
}

/** Returns undefined if nothing remains. */
function fixedPart(value: unknown, path: string): unknown {
  if (liveKeys.has(path)) return undefined
  if (Array.isArray(value)) return value.map((each) => fixedPart(each, `${path}[]`) ?? null)
  if (typeof value !== 'object' || value === null || value.constructor !== Object) return value
  const parts = Object.entries(value)
    .map(([key, part]) => [key, fixedPart(part, `${path}.${key}`)] as const)
    .filter(([, part]) => part !== undefined)
  return parts.length === 0 ? undefined : Object.fromEntries(parts)
}

/** Reports changes that a running router cannot reload. */
export function checkFixed(running: ParsedConfig, next: ParsedConfig): readonly Problem[] {
  const [before, after] = [fixedTexts(running.file), fixedTexts(next.file)]
  return gather(next.locate, (report) => {
    for (const key of new Set([...before.keys(), ...after.keys()]))
      if (before.get(key) !== after.get(key))
        report(key, 'it differs from what the router was started with', 'Restart the router.')
  })
}
