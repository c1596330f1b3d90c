// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The path of a value in a document. */
export type MemberPath = readonly (string | number)[]

/** Values that may replace a member. */
export const faults = {
  null: null,
  'an object': {},
  'a list': [],
  'a number': 1,
  'a text': 'x',
  nothing: undefined,
} as const

export type Fault = keyof typeof faults

/** Paths of the document itself and of everything in it. */
export function pathsOf(document: unknown): readonly MemberPath[] {
  if (typeof document !== 'object' || document === null) return [[]]
  return [
    [],
    ...Object.entries(document).flatMap(([name, value]) =>
      pathsOf(value).map((path) => [Array.isArray(document) ? Number(name) : name, ...path]),
    ),
  ]
}

function valueAt(document: unknown, path: MemberPath): unknown {
  return path.reduce((value, name) => (value as Record<string, unknown>)[name], document)
}

/** The document with a fault at this path; `nothing` removes a member or an item. */
export function faulty(document: unknown, path: MemberPath, fault: Fault): unknown {
  const last = path.at(-1)
  if (last === undefined) return fault === 'nothing' ? {} : faults[fault]
  const copy = structuredClone(document)
  const parent = valueAt(copy, path.slice(0, -1)) as Record<string | number, unknown>
  if (fault !== 'nothing') parent[last] = faults[fault]
  else if (Array.isArray(parent)) parent.splice(Number(last), 1)
  else delete parent[last]
  return copy
}
