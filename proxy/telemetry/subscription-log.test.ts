// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { createEventLog } from './event-log.ts'
import { createLogger } from './log.ts'

function make() {
  const clock = new VirtualClock()
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line.replace(/^\S+ /, '')) }
  const logger = createLogger({
    level: 'info',
    format: 'text',
    redact: (text) => text.replace('secret', '[masked]'),
    destination,
  })
  const log = createEventLog({ logger, clock }).subscriptionObserver('ETH1', 'jsonrpc')
  return { clock, lines, log }
}

const on = 'ETH1/jsonrpc'

test('a fetch failure is logged once it has lasted a while', () => {
  const { lines, log } = make()
  log.fetchFailed?.('logs', 0, 'all are behind')
  log.fetchFailed?.('logs', 9_999, 'all are behind')
  expect(lines).toEqual([])
  log.fetchFailed?.('logs', 10_000.4, 'no answer of https://node.example/secret')
  expect(lines).toEqual([
    `WARN  ${on}: subscription delayed topic=logs delayMs=10000 why="no answer of https://node.example/[masked]"\n`,
  ])
})

test('such lines are limited, the others are counted, and the end of a topic is logged anyway', async () => {
  const { clock, lines, log } = make()
  for (let topic = 0; topic < 100; topic++) log.fetchFailed?.('logs', 20_000, 'down')
  log.ended?.('logs', 'the events of block 5 could not be fetched')
  expect(lines).toHaveLength(7)
  expect(lines.at(-1)).toBe(
    `ERROR ${on}: subscription ended topic=logs reason="the events of block 5 could not be fetched"\n`,
  )
  await clock.advance(60_000)
  expect(lines.at(-1)).toBe(`WARN  ${on}: delays of subscriptions suppressed suppressed=94\n`)
})
