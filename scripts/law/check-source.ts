// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { matchesGlob, posix } from 'node:path'
import type { Import, Source } from './source.ts'
import {
  deterministicFolders,
  knownOnlyTo,
  mayImport,
  packagesOf,
  readsEnvironment,
  typesFreeTo,
} from './table.ts'

/** A violation of the law: place, problem and remedy in one line. */
export type Violation = string

/** Whether a file is a test or only for tests, which may import anything and be longer. */
export function isTestCode(path: string): boolean {
  return /\/testing\/|\.(test|fixture)\.ts$/.test(path)
}

/**
 * The violations in one TypeScript file. `dependencies` are the packages of the released program.
 * Tests may import anything, so only their form is checked.
 */
export function checkSource(source: Source, dependencies: readonly string[]): Violation[] {
  const found = checkForm(source)
  if (!isProgramCode(source.path)) return found
  return [...found, ...checkImports(source, dependencies), ...checkUses(source)]
}

function isProgramCode(path: string): boolean {
  return /^(proxy|operator)\//.test(path) && !isTestCode(path)
}

const spdx = [
  '// SPDX-License-Identifier: Apache-2.0',
  '// SPDX-FileCopyrightText: The rpc-router Authors',
]

function checkForm({ path, text, defaultExportLine }: Source): Violation[] {
  const found: Violation[] = []
  const lines = text.split('\n')
  const first = lines[0]?.startsWith('#!') ? 1 : 0
  if (spdx.some((line, at) => lines[first + at] !== line))
    found.push(`${path}:1 lacks the two SPDX lines. Copy them from any other source file.`)
  if (defaultExportLine !== null && !path.endsWith('.config.ts'))
    found.push(`${path}:${defaultExportLine} has a default export. Export it by its name.`)
  return found
}

function checkImports(source: Source, dependencies: readonly string[]): Violation[] {
  return source.imports.flatMap((request) => {
    const { specifier, line } = request
    const why = specifier.startsWith('.')
      ? checkOwnImport(source.path, specifier)
      : checkPackage(source.path, request, dependencies)
    return why === null ? [] : [`${source.path}:${line} imports ${specifier}. ${why}`]
  })
}

function folderOf(part: string): string {
  return part.includes('/') ? part : `proxy/${part}`
}

/** `relay` for `proxy/relay/retry.ts`, `operator/api` for `operator/api/a.ts`. */
function partOf(path: string): string {
  const [program, part = ''] = path.split('/')
  return program === 'proxy' ? part : `${program}/${part}`
}

function checkOwnImport(path: string, specifier: string): string | null {
  const target = posix.join(posix.dirname(path), specifier)
  if (!target.startsWith('proxy/') && !target.startsWith('operator/'))
    return target.endsWith('package.json')
      ? null
      : 'The released programs hold proxy/ and operator/ alone: move what is shared into one of them, or do without it.'
  if (isTestCode(target))
    return 'Only tests import what is of tests: move what is shared into a file of its own.'
  const [from, to] = [partOf(path), partOf(target)]
  if (from === to || to === 'words') return null
  const allowed = mayImport[from]
  if (!allowed)
    return `${folderOf(from)} is not in the law. Put the file into a folder that is, or add the folder to scripts/law/table.ts and docs/architecture.md.`
  if (allowed.includes(to)) return null
  const others = allowed.length === 0 ? 'nothing of ours' : allowed.join(', ')
  return `${from} may import ${others}. Move what both need down to one of these, or let ${from} define an interface that the one who may import both fills in.`
}

function checkPackage(
  path: string,
  { specifier, isTypeOnly }: Import,
  dependencies: readonly string[],
): string | null {
  const name = packageName(specifier)
  const limits = packagesOf[partOf(path)]
  if (limits && !limits.includes(name))
    return `${partOf(path)} does no I/O and knows only ${limits.join(', ')}. Let cli read and hand in what it needs.`
  const isFree = isTypeOnly && matches(path, typesFreeTo[name] ?? [])
  const places = Object.hasOwn(knownOnlyTo, name) && !isFree ? knownOnlyTo[name] : null
  if (places && !matches(path, places))
    return places.length === 0
      ? `Nothing of ours uses ${name}: TLS is for the edge in front of the router.`
      : `Only ${places.join(', ')} may know ${name}. Go through what that file exports, in our own types.`
  if (!name.startsWith('node:') && !dependencies.includes(name))
    return `${name} is not among the dependencies of package.json, so the released program would not have it.`
  return null
}

function matches(path: string, places: readonly string[]): boolean {
  return places.some((place) => matchesGlob(path, place))
}

function packageName(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

const clockUses = [
  'Date.now',
  'new Date()',
  'performance',
  'hrtime',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'AbortSignal.timeout',
]
const chanceUses = ['Math.random', 'randomUUID', 'randomBytes', 'randomInt', 'getRandomValues']

function checkUses({ path, uses }: Source): Violation[] {
  const part = partOf(path)
  return uses.flatMap(({ name, line }) => {
    if (name === 'process.env' && !readsEnvironment.includes(part))
      return [`${path}:${line} reads process.env. Read it in cli and hand the value in.`]
    if (!deterministicFolders.includes(part)) return []
    if (clockUses.includes(name))
      return [
        `${path}:${line} uses ${name}. Take a Clock (proxy/clock), so that it runs in virtual time.`,
      ]
    if (chanceUses.includes(name))
      return [
        `${path}:${line} uses ${name}. Take a Random (proxy/clock), so that a seed reproduces a run.`,
      ]
    return []
  })
}
