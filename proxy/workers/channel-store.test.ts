// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test, vi } from 'vitest'
import { seededRandom } from '../clock/testing/seeded-random.ts'
import { systemClock } from '../clock/clock.ts'
import { CacheServiceStore } from '../store/grpc/cache-store.ts'
import type { StoredClaim } from '../store/shared-store.ts'
import { expectSessionContract } from '../store/testing/session-contract.ts'
import { type Answer, type Ask, channelStores, serveChannel } from './channel-store.ts'

/** A store whose workers reach it over channels like those of processes. */
function served(graceMs = 0, maxBytes = 1e6) {
  const announced: ((entry: StoredClaim) => void)[] = []
  const store = new CacheServiceStore(maxBytes, systemClock, seededRandom(graceMs), graceMs)
  const serve = serveChannel(store, (entry) => announced.forEach((each) => each(entry)))
  const messages: (readonly Ask[])[] = []
  let isGone = false
  const connect = () => {
    let answered: (answers: readonly Answer[]) => void = () => {}
    const open = channelStores({
      ask(asks) {
        messages.push(asks)
        const answers = structuredClone(serve(structuredClone(asks)))
        setImmediate(() => answered(answers))
        return !isGone
      },
      listen(receive, hear) {
        answered = receive
        announced.push(hear)
      },
    })
    const onChange = vi.fn<(error: Error | null) => void>()
    const options = { clock: systemClock, random: seededRandom(1), commandTimeoutMs: 5_000 }
    return { keys: open({ ...options, onChange }), onChange }
  }
  return { connect, messages, end: () => (isGone = true) }
}

test('it is a store of sessions', async () => {
  await expectSessionContract(served(0).connect().keys, served(3_600_000).connect().keys)
})

test('all commands of a turn travel in one message', async () => {
  const { connect, messages } = served()
  const { keys } = connect()
  await Promise.all(['a', 'b', 'c'].map((key) => keys.set(key, Buffer.from(key), 1_000)))
  expect(messages).toHaveLength(1)
  const found = await Promise.all(['a', 'b', 'd'].map((key) => keys.get(key)))
  expect(found.map(({ value }) => value && Buffer.from(value).toString())).toEqual([
    'a',
    'b',
    undefined,
  ])
})

test('one worker hears of the changes of another', async () => {
  const { connect } = served()
  const [one, two] = [connect().keys, connect().keys]
  const heard: string[] = []
  two.watch('r:', { message: ({ key = '' }) => heard.push(key), listening: () => {} })
  await one.increment('r:ETH1')
  await one.increment('other')
  expect(heard).toEqual(['r:ETH1'])
})

test('without room, and without a supervisor, commands fail and say why', async () => {
  const full = served(0, 1).connect()
  await expect(full.keys.claim('key', Buffer.from('value'), 1_000)).rejects.toThrow('full')
  const { connect, end } = served()
  const { keys, onChange } = connect()
  end()
  await expect(keys.get('key')).rejects.toThrow('it did not answer in time')
  expect(onChange).toHaveBeenCalledOnce()
})
