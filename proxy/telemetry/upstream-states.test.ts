// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import type { UpstreamState } from '../upstream/observer.ts'
import { anUpstream, aPool } from './call.fixture.ts'
import { UpstreamStates } from './upstream-states.ts'

function make() {
  const clock = new VirtualClock()
  const states = new UpstreamStates(clock)
  const startMs = clock.wallMs()
  /** The standing of `a`, its beginning in seconds after the start. */
  const look = (state: UpstreamState) => {
    const found = states.look(aPool([anUpstream('a', state)])).get('a')
    return `${found?.state} since ${((found?.sinceMs ?? 0) - startMs) / 1_000}: ${found?.why}`
  }
  const change = (from: UpstreamState, to: UpstreamState, why: string) =>
    states.observer.stateChanged('a', from, to, why)
  const pass = (seconds: number) => clock.advance(seconds * 1_000)
  return { states, look, change, pass }
}

test('a change counts from when it was reported, however late it is looked at', async () => {
  const { look, change, pass } = make()
  await pass(10)
  change('unverified', 'eligible', 'verified')
  await pass(50)
  expect(look('eligible')).toBe('eligible since 10: verified')
  change('eligible', 'disabled', 'connection-refused')
  await pass(100)
  expect(look('disabled')).toBe('disabled since 60: connection-refused')
})

test('what nothing reports counts from the look that finds it', async () => {
  const { look, change, pass } = make()
  change('unverified', 'eligible', 'verified')
  await pass(30)
  expect(look('disabled')).toBe('disabled since 30: null')
  await pass(5)
  expect(look('disabled')).toBe('disabled since 30: null')
})

test('a disabled upstream that fails its trial at an epoch was disabled all the time', async () => {
  const { look, change, pass } = make()
  await pass(10)
  change('eligible', 'disabled', 'connection-refused')
  for (let epoch = 0; epoch < 3; epoch++) {
    await pass(900)
    change('disabled', 'eligible', 'a new epoch began')
    await pass(2)
    change('eligible', 'disabled', 'attempt-timeout')
  }
  expect(look('disabled')).toBe('disabled since 10: attempt-timeout')
  change('disabled', 'eligible', 'answered again')
  await pass(60)
  expect(look('eligible')).toBe('eligible since 2716: answered again')
  change('eligible', 'disabled', 'connection-refused')
  expect(look('disabled')).toBe('disabled since 2776: connection-refused')
})

test('cooldowns say why', async () => {
  const { states, look, pass } = make()
  states.observer.stateChanged('a', 'unverified', 'eligible', 'verified')
  await pass(20)
  states.observer.cooldownBegan('a', 'https://a.example', 29_500, 'rate limited')
  await pass(7)
  const why = 'rate limited: nothing goes to https://a.example for 30 s'
  expect(look('held-off')).toBe(`held-off since 20: ${why}`)
  await pass(20)
  expect(look('eligible')).toBe('eligible since 47: null')
})

test('an upstream that the pool has no more is forgotten', async () => {
  const { states, look, change, pass } = make()
  change('eligible', 'disabled', 'connection-refused')
  expect(states.look(aPool([])).size).toBe(0)
  await pass(5)
  expect(look('disabled')).toBe('disabled since 5: null')
})
