// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import type { Pod } from '../resources/kinds.ts'
import { podProblem } from './rollout.ts'

const pod = (name: string, status: object, creationTimestamp = '2026-01-01T00:00:00Z') =>
  ({ metadata: { name, creationTimestamp }, status }) as Pod
const container = (state: object, lastState = {}) => ({ containerStatuses: [{ state, lastState }] })
const ready = { conditions: [{ type: 'Ready', status: 'True' }] }

test.each([
  [
    'cannot be scheduled',
    {
      conditions: [
        { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' },
      ],
    },
    'Pod new: Unschedulable: 0/1 nodes',
  ],
  [
    'has no image',
    container({ waiting: { reason: 'ImagePullBackOff', message: 'not found' } }),
    'Pod new: ImagePullBackOff: not found',
  ],
  [
    'ends again and again',
    container(
      { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
      { terminated: { exitCode: 2, message: 'config:\n  endpoints[0]: no URL\n' } },
    ),
    'Pod new: CrashLoopBackOff, its container exited with code 2: config: endpoints[0]: no URL',
  ],
  [
    'ended',
    container({ terminated: { exitCode: 1 } }),
    'Pod new: its container exited with code 1',
  ],
  [
    'had too little memory',
    container({ running: {} }, { terminated: { exitCode: 137, reason: 'OOMKilled' } }),
    'Pod new: its container exited with code 137 (out of memory)',
  ],
  ['runs', container({ running: {} }), 'Pod new: it runs but is not ready'],
])('the problem of a pod that %s', (_, status, text) => {
  const older = pod('old', container({ running: {} }), '2025-01-01T00:00:00Z')
  const later = pod('ready', ready, '2026-02-01T00:00:00Z')
  expect(podProblem([older, pod('new', status), later], true)).toBe(text)
})

test('the start of a long log is cut', () => {
  const message = `${'x'.repeat(2_000)} the end`
  const text =
    podProblem([pod('new', container({ terminated: { exitCode: 1, message } }))], false) ?? ''
  expect(text.length).toBeLessThan(600)
  expect(text.endsWith('the end')).toBe(true)
})

test('ready pods have no problem', () => {
  expect(podProblem([pod('a', ready)], true)).toBeNull()
  expect(podProblem([], true)).toBeNull()
})

test('a normal start is a problem only when it is late, and does not hide an older pod', () => {
  const starting = pod('new', container({ waiting: { reason: 'ContainerCreating' } }))
  expect(podProblem([starting], false)).toBeNull()
  expect(podProblem([pod('new', container({ running: {} }))], false)).toBeNull()
  expect(podProblem([starting], true)).toBe('Pod new: ContainerCreating')
  const bad = container({ waiting: { reason: 'ErrImagePull' } })
  const older = pod('old', bad, '2025-01-01T00:00:00Z')
  expect(podProblem([older, starting], false)).toBe('Pod old: ErrImagePull')
})
