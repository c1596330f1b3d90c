// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** The used fields of a V8 CPU profile from `node --cpu-prof`. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: {
      readonly functionName: string
      readonly url: string
      readonly lineNumber: number
    }
    readonly children?: readonly number[]
  }[]
  readonly samples: readonly number[]
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[]
}

/** A function at one point of the call tree, with times in microseconds. */
export interface Frame {
  readonly name: string
  /** `file:line` from the project's root or inside a package; empty for V8. */
  readonly where: string
  selfMicros: number
  totalMicros: number
  readonly children: Frame[]
}

const idleNames = new Set(['(idle)', '(program)'])

/** The call tree with its times, without idle time. */
export function callTree(profile: CpuProfile): Frame {
  const frames = new Map<number, Frame>()
  for (const { id, callFrame } of profile.nodes) {
    const { functionName, url, lineNumber } = callFrame
    const where = url === '' ? '' : `${shortPath(url)}:${lineNumber + 1}`
    const name = functionName || '(anonymous)'
    frames.set(id, { name, where, selfMicros: 0, totalMicros: 0, children: [] })
  }
  for (const [at, id] of profile.samples.entries()) {
    const frame = frames.get(id)
    if (frame && !idleNames.has(frame.name)) frame.selfMicros += profile.timeDeltas[at] ?? 0
  }
  const found = (id: number) => {
    const frame = frames.get(id)
    if (frame === undefined) throw new Error(`the profile has no node ${id}`)
    return frame
  }
  for (const { id, children = [] } of profile.nodes)
    found(id).children.push(...children.map((child) => found(child)))
  const root = found(profile.nodes[0]?.id ?? 0)
  sumUp(root)
  return root
}

/** The total self time per key, in descending order. */
export function selfTimes(root: Frame, keyOf: (frame: Frame) => string): [string, number][] {
  const times = new Map<string, number>()
  const visit = (frame: Frame) => {
    const key = keyOf(frame)
    times.set(key, (times.get(key) ?? 0) + frame.selfMicros)
    frame.children.forEach(visit)
  }
  visit(root)
  return [...times].filter(([, micros]) => micros > 0).toSorted((a, b) => b[1] - a[1])
}

/** The owner of a frame's code: a folder of the project, a package, Node, or V8. */
export function ownerOf({ where, name }: Frame): string {
  if (where === '') return name === '(garbage collector)' ? 'garbage collector' : 'V8 and syscalls'
  if (where.startsWith('node:')) return 'node'
  if (where.startsWith('wasm:')) return 'WebAssembly'
  const dependency = /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(where)?.[1]
  return dependency ?? where.replace(/:\d+$/, '').split('/').slice(0, 2).join('/')
}

function sumUp(frame: Frame): number {
  frame.totalMicros = frame.selfMicros
  for (const child of frame.children) frame.totalMicros += sumUp(child)
  return frame.totalMicros
}

function shortPath(url: string): string {
  const dependency = url.lastIndexOf('/node_modules/')
  if (dependency >= 0) return url.slice(dependency + 1)
  return url.replace(/^file:\/\/.*?\/(?=(proxy|bench|e2e)\/)/, '')
}
