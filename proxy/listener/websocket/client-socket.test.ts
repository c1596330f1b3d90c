// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { EventEmitter } from 'node:events'
import type { Duplex } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import { ClientSocket } from './client-socket.ts'

const maxBufferedBytes = 1_600

/** A client that reads when the test calls `take`: the library's socket and its wire. */
class SlowSocket extends EventEmitter {
  readonly readyState = WebSocket.OPEN
  readonly wire = Object.assign(new EventEmitter(), { writableLength: 0, writableNeedDrain: false })
  readonly sent: number[] = []
  closedWith: { code: number; reason: string } | null = null

  send({ length }: Uint8Array): void {
    this.sent.push(length)
    this.wire.writableLength += length
    this.wire.writableNeedDrain ||= this.wire.writableLength >= 100
  }

  take(): void {
    this.wire.writableLength = 0
    this.wire.writableNeedDrain = false
    this.wire.emit('drain')
  }

  resume(): void {}
  terminate(): void {}

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason }
  }
}

function made() {
  const clock = new VirtualClock()
  const socket = new SlowSocket()
  const wire = socket.wire as unknown as Duplex
  const serving = { clock, socketLimits: { maxBufferedBytes } }
  const outbox = new ClientSocket(socket as unknown as WebSocket, wire, serving)
  return { clock, socket, outbox }
}

const bytes = (length: number) => new Uint8Array(length)

describe('answers', () => {
  it('are sent one by one, as the client reads them, in their order', async () => {
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
    outbox.notify(bytes(1))
    expect(socket.closedWith).toBeNull()
    outbox.notify(bytes(1))
    expect([socket.sent, socket.closedWith?.code]).toEqual([[900, 1], 1008])
  })

  it('of an unknown length let no more calls in than fit', async () => {
    const { clock, socket, outbox } = made()
    expect([outbox.hasRoomBeside(15), outbox.hasRoomBeside(16)]).toEqual([true, false])
    void outbox.answer(bytes(500))
    await clock.advance(1)
    // The answer that was not read, and another of its length to come.
    expect([outbox.hasRoomBeside(2), outbox.hasRoomBeside(3)]).toEqual([true, false])
    socket.take()
    await clock.advance(1)
    for (let at = 0; at < 50; at++) await outbox.answer(bytes(1))
    socket.take()
    expect(outbox.hasRoomBeside(100)).toBe(true)
  })

  it('that are too many for a moment do not close a client that reads', async () => {
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
    for (const length of [1_000, 601]) outbox.notify(bytes(length))
    expect([socket.sent, socket.closedWith]).toEqual([[10], null])
    outbox.notify(bytes(1))
    expect(socket.closedWith).toMatchObject({ code: 1008 })
    more.resolve()
    await clock.advance(1)
    await answered
    expect(socket.sent).toEqual([10, 10, 0, 1_000, 601])
  })
})
