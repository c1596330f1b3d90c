// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ByteBudget } from '../../bytes/byte-budget.ts'
import { controlFrames } from '../../bytes/limits.ts'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { ClientSocket, fullReason } from './client-socket.ts'

const maxBufferedBytes = 1_600

/** A client that reads when the test calls `take`: the library's socket and its connection. */
class SlowSocket extends EventEmitter {
  readyState: number = WebSocket.OPEN
  readonly wire = Object.assign(new EventEmitter(), { writableLength: 0 })
  readonly sent: number[] = []
  readonly texts: string[] = []
  closedWith: { code: number; reason: string } | null = null
  readonly #written: (() => void)[] = []

  send(bytes: Uint8Array, _options: object, written: () => void): void {
    this.sent.push(bytes.length)
    this.texts.push(Buffer.from(bytes).toString())
    this.wire.writableLength += bytes.length
    this.#written.push(written)
  }

  pong(data: Uint8Array, _mask: boolean, written: () => void): void {
    this.send(Buffer.concat([Buffer.from('pong '), data]), {}, written)
  }

  take(): void {
    this.wire.writableLength = 0
    for (const written of this.#written.splice(0)) written()
  }

  /** Ends the connection. */
  end(): void {
    this.readyState = WebSocket.CLOSED
    this.wire.emit('close')
    this.emit('close')
  }

  resume(): void {}
  terminate(): void {}
  pause(): void {}

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason }
    this.readyState = WebSocket.CLOSING
  }
}

function made(
  limits: { maxBufferedBytes?: number; budgetBytes?: number } = {},
  budget = new ByteBudget(limits.budgetBytes ?? Infinity),
) {
  const clock = new VirtualClock()
  const socket = new SlowSocket()
  const wire = socket.wire as unknown as Duplex
  const socketLimits = { maxBufferedBytes: limits.maxBufferedBytes ?? maxBufferedBytes }
  const serving = { clock, budget, socketLimits }
  const outbox = new ClientSocket(socket as unknown as WebSocket, wire, serving)
  outbox.serve(
    () => {},
    () => {},
  )
  return { clock, budget, socket, outbox }
}

const bytes = (length: number) => new Uint8Array(length)

describe('answers', () => {
  it('are sent one by one and in order, as the client reads them', async () => {
    const { clock, socket, outbox } = made()
    const answered: number[] = []
    for (const length of [300, 301, 302])
      void outbox.answer(bytes(length)).then(() => answered.push(length))
    await clock.advance(1)
    expect([socket.sent, answered]).toEqual([[300], []])
    for (const sent of [
      [300, 301],
      [300, 301, 302],
      [300, 301, 302],
    ]) {
      socket.take()
      await clock.advance(1)
      expect(socket.sent).toEqual(sent)
    }
    expect(answered).toEqual([300, 301, 302])
    expect(clock.pending).toBe(0)
  })

  it('count against the limit, whether or not they wait for others', async () => {
    const { clock, socket, outbox } = made()
    void outbox.answer(bytes(900))
    void outbox.answer(bytes(700))
    await clock.advance(1)
    outbox.notify([bytes(1)])
    expect(socket.closedWith).toBeNull()
    outbox.notify([bytes(1)])
    expect([socket.sent, socket.closedWith?.code]).toEqual([[900], 1008])
  })

  it('of unknown length admit only as many calls as fit', async () => {
    const { clock, socket, outbox } = made()
    expect([outbox.hasRoomBeside(7), outbox.hasRoomBeside(8)]).toEqual([true, false])
    void outbox.answer(bytes(500))
    await clock.advance(1)
    // One unread answer, and room for another one as long.
    expect([outbox.hasRoomBeside(2), outbox.hasRoomBeside(3)]).toEqual([true, false])
    socket.take()
    await clock.advance(1)
    for (let at = 0; at < 50; at++) {
      const answered = outbox.answer(bytes(1))
      await clock.advance(1)
      socket.take()
      await answered
    }
    expect(outbox.hasRoomBeside(100)).toBe(true)
  })

  it('that are briefly too many do not close a client that reads', async () => {
    const { clock, socket, outbox } = made()
    for (let at = 0; at < 10; at++) void outbox.answer(bytes(400))
    for (let at = 0; at < 10; at++) {
      await clock.advance(10_000)
      socket.take()
    }
    await clock.advance(60_000)
    expect([socket.sent.length, socket.closedWith]).toEqual([10, null])
  })

  it('close the connection when nothing is read for a minute', async () => {
    const { clock, socket, outbox } = made()
    void outbox.answer(bytes(400))
    await clock.advance(59_999)
    expect(socket.closedWith).toBeNull()
    await clock.advance(1)
    expect(socket.closedWith).toMatchObject({ code: 1008 })
  })
})

describe('notifications', () => {
  it('that wait behind a long answer count against the limit', async () => {
    const { clock, socket, outbox } = made()
    const more = Promise.withResolvers<void>()
    async function* long() {
      yield bytes(10)
      await more.promise
      yield bytes(10)
    }
    const answered = outbox.answer(long())
    await clock.advance(1)
    socket.take()
    for (const length of [300, 301]) outbox.notify([bytes(length)])
    expect([socket.sent, socket.closedWith]).toEqual([[10], null])
    more.resolve()
    for (let at = 0; at < 5; at++) {
      await clock.advance(1)
      socket.take()
    }
    await answered
    expect(socket.sent).toEqual([10, 10, 0, 300, 301])
  })

  it('are stored once for all sockets, counted as held, and close at the bound', () => {
    const { socket, outbox, budget } = made({ maxBufferedBytes: 8 * 1024 * 1024 })
    const [head, result, tail] = [bytes(100), bytes(84), bytes(2)]
    let count = 0
    for (; socket.closedWith === null; count++) outbox.notify([head, result, tail])
    // The wire takes one; the queue takes as many as fit at 512 bytes of overhead each.
    expect(socket.sent).toEqual([186])
    expect(count - 2).toBe(Math.ceil((8 * 1024 * 1024 - 186 + 1) / (186 + 512)))
    expect(socket.closedWith?.code).toBe(1008)
    expect(budget.heldBytes).toBe(186)
    socket.end()
    expect(budget.heldBytes).toBe(0)
  })

  it('arrive whole and in order, however slowly the client reads', async () => {
    const { clock, socket, outbox, budget } = made({ maxBufferedBytes: 1e6 })
    const answer = outbox.answer(Buffer.from('answer 1'))
    for (let at = 0; at < 5; at++) outbox.notify([Buffer.from('event '), Buffer.from(String(at))])
    const late = outbox.answer(Buffer.from('answer 2'))
    for (let at = 0; at < 9; at++) {
      await clock.advance(1)
      socket.take()
    }
    await Promise.all([answer, late])
    const events = socket.texts.filter((text) => text.startsWith('event'))
    expect(events).toEqual(['event 0', 'event 1', 'event 2', 'event 3', 'event 4'])
    expect(socket.texts).toHaveLength(7)
    expect(budget.heldBytes).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('of a client that does not read are dropped at half of the process budget', () => {
    const { socket, outbox, budget } = made({ maxBufferedBytes: 1e6, budgetBytes: 10_000 })
    const { socket: slow, outbox: alike } = made({}, budget)
    const { socket: keen, outbox: other } = made({}, budget)
    outbox.notify([bytes(3_000)])
    alike.notify([bytes(800)])
    for (let at = 0; socket.closedWith === null && at < 100; at++) outbox.notify([bytes(186)])
    expect(socket.closedWith).toEqual({ code: 1013, reason: fullReason })
    expect(budget.heldBytes).toBeLessThan(5_000)
    // Dropped notifications make room for others.
    alike.notify([bytes(186)])
    other.notify([bytes(186)])
    expect([keen.sent, keen.closedWith]).toEqual([[186], null])
    expect([slow.sent, slow.closedWith]).toEqual([[800], null])
  })
})

it('pings from one socket read share one pong, as do pings that arrive while the client does not read', async () => {
  const { socket, clock } = made()
  const ping = async (from: number, to: number) => {
    for (let at = from; at < to; at++) socket.emit('ping', Buffer.from(String(at)))
    await clock.advance(1)
  }
  await ping(0, 500)
  expect(socket.texts).toEqual(['pong 499'])
  await ping(500, 700)
  await ping(700, 1_000)
  socket.take()
  socket.take()
  expect(socket.texts).toEqual(['pong 499', 'pong 999'])
})

it.each([
  ['in half a minute close nothing', 1, null],
  ['at once close the connection', 0, { code: 1008, reason: 'too many pings and pongs' }],
] as const)('300,000 pings and pongs %s', async (_, everyMs, closedWith) => {
  const { socket, clock } = made()
  for (let at = 0; at <= controlFrames.count / 10; at++) {
    for (let each = 0; each < 10; each++) socket.emit(each % 2 ? 'ping' : 'pong', bytes(0))
    if (everyMs > 0) await clock.advance(everyMs)
  }
  expect(socket.closedWith).toEqual(closedWith)
})
