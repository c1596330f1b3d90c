// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import {
  type ConditionMeaning,
  rpcRouterConditions,
  upstreamProviderConditions,
} from '../api/conditions.ts'

/** The sources of a folder, without tests. */
function sourcesOf(folder: string): string {
  const path = join(import.meta.dirname, '..', folder)
  return readdirSync(path)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => readFileSync(join(path, name), 'utf8'))
    .join('\n')
}

const status = sourcesOf('status')
const translate = sourcesOf('translate')

/** Reasons that a function is called with for a condition, as they stand in the source. */
function written(call: string, type: string): readonly string[] {
  const pattern = new RegExp(`${call}\\(\\s*'${type}',\\s*'(\\w+)'`, 'g')
  return [...status.matchAll(pattern)].map(([, reason = '']) => reason)
}

/** Reasons that come from a translation. */
const translated = [...translate.matchAll(/'([A-Z]\w+)'/g)].map(([, reason = '']) => reason)

const fromElsewhere: Readonly<Record<string, readonly string[]>> = {
  Accepted: translated,
  ResolvedRefs: translated,
  // What keeps a router from being Ready is named by the condition that is at fault.
  Ready: [...status.matchAll(/^ {2}\w+: '(\w+)',$/gm)].map(([, reason = '']) => reason),
}

const pendingOfRouters = ['Accepted', 'Programmed']

const all = [
  ['routerFinding', rpcRouterConditions],
  ['providerFinding', upstreamProviderConditions],
] as const
const reasons = all.flatMap(([call, table]) =>
  Object.entries<ConditionMeaning>(table).flatMap(([type, meaning]) =>
    Object.keys(meaning.reasons).map((reason) => [call, type, reason] as const),
  ),
)

// That nothing else is ever set, the types see to.
test.each(reasons)('%s can set %s to %s', (call, type, reason) => {
  const isPending =
    call === 'providerFinding' && reason === 'Pending' && pendingOfRouters.includes(type)
  if (isPending) expect(status).toContain("(['Accepted', 'Programmed'] as const)")
  else expect([...written(call, type), ...(fromElsewhere[type] ?? [])]).toContain(reason)
})
