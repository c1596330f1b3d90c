// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { callTree, type CpuProfile, ownerOf, selfTimes } from './cpu-profile.ts'
import { flameGraph } from './flame-graph.ts'

const frame = (functionName: string, url: string) => ({ functionName, url, lineNumber: 4 })
const profile: CpuProfile = {
  nodes: [
    { id: 1, callFrame: frame('(root)', ''), children: [2, 3, 6] },
    { id: 2, callFrame: frame('(idle)', '') },
    { id: 3, callFrame: frame('serve<T>', 'file:///app/proxy/listener/a.ts'), children: [4, 5] },
    { id: 4, callFrame: frame('send', 'file:///app/node_modules/@scope/lib/index.js') },
    { id: 5, callFrame: frame('', 'node:net') },
    { id: 6, callFrame: frame('send', 'file:///app/node_modules/@scope/lib/index.js') },
  ],
  samples: [2, 3, 4, 4, 5, 6],
  timeDeltas: [1000, 10, 20, 30, 5, 35],
}

test('self times add up by function and by owner, without idle time', () => {
  const root = callTree(profile)
  expect(root.totalMicros).toBe(100)
  expect(selfTimes(root, ({ name, where }) => `${name} ${where}`)).toEqual([
    ['send node_modules/@scope/lib/index.js:5', 85],
    ['serve<T> proxy/listener/a.ts:5', 10],
    ['(anonymous) node:net:5', 5],
  ])
  expect(selfTimes(root, ownerOf)).toEqual([
    ['@scope/lib', 85],
    ['proxy/listener', 10],
    ['node', 5],
  ])
})

test('the flame graph shows every frame that is wide enough, with escaped text', () => {
  const svg = flameGraph(callTree(profile))
  expect(svg).toContain('<title>serve&lt;T&gt; proxy/listener/a.ts:5 65.0 %</title>')
  expect(svg).not.toContain('(idle)')
  expect(svg.match(/<rect /g)).toHaveLength(5)
})
