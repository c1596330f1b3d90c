// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { ClientSocket } from './websocket-server.ts'
import { SocketOutbox } from './socket-outbox.ts'

const maxBufferedBytes = 1_600

/** A client that takes what it is given when the test says so. */
class SlowSocket implements ClientSocket {
  bufferedBytes = 0
  readonly sent: number[] = []
  closedWith: { code: number; reason: string } | null = null
  #drained: () => void = () => {}

  send({ length }: Uint8Array): boolean {
    this.sent.push(length)
    this.bufferedBytes += length
    return this.bufferedBytes < 100
  }

  onceDrained(run: () => void): void {
    this.#drained = run
  }

  take(): void {
    this.bufferedBytes = 0
    this.#drained()
  }

  pause(): void {}
  resume(): void {}

  close(code: number, reason: string): void {
    this.closedWith ??= { code, reason }
  }
}

function made() {
  const clock = new VirtualClock()
  const socket = new SlowSocket()
  const outbox = new SocketOutbox(socket, { clock, socketLimits: { maxBufferedBytes } })
  return { clock, socket, outbox }
}

const bytes = (length: number) => new Uint8Array(length)

describe('answers', () => {
  it('go out one by one, as the client takes them, in their order', async () => {
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

  it('count against what may be held, whether or not they wait for their turn', async () => {
    const { clock, socket, outbox } = made()
    void outbox.answer(bytes(900))
    void outbox.answer(bytes(700))
    await clock.advance(1)
    expect(outbox.notify(bytes(1))).toBe(true)
    expect(outbox.notify(bytes(1))).toBe(false)
    socket.take()
    await clock.advance(1)
    expect(outbox.notify(bytes(1))).toBe(true)
  })

  it('of a length that was not to be known let no more calls in than fit', async () => {
    const { clock, socket, outbox } = made()
    expect([outbox.hasRoomBeside(15), outbox.hasRoomBeside(16)]).toEqual([true, false])
    void outbox.answer(bytes(500))
    await clock.advance(1)
    // The one that is not taken, and another of its kind under way.
    expect([outbox.hasRoomBeside(2), outbox.hasRoomBeside(3)]).toEqual([true, false])
    socket.take()
    await clock.advance(1)
    for (let at = 0; at < 50; at++) await outbox.answer(bytes(1))
    socket.take()
    expect(outbox.hasRoomBeside(100)).toBe(true)
  })

  it('that are too many, of which nothing is taken, close the connection with a reason', async () => {
    const { clock, socket, outbox } = made()
    for (let at = 0; at < 5; at++) void outbox.answer(bytes(400))
    await clock.advance(14_999)
    expect(socket.closedWith).toBeNull()
    await clock.advance(1)
    expect(socket.closedWith).toEqual({
      code: 1008,
      reason: 'the client does not read its answers',
    })
    outbox.closed()
    expect(clock.pending).toBe(0)
  })

  it('that are too many for a moment harm nobody who reads', async () => {
    const { clock, socket, outbox } = made()
    for (let at = 0; at < 10; at++) void outbox.answer(bytes(400))
    for (let at = 0; at < 10; at++) {
      await clock.advance(10_000)
      socket.take()
    }
    await clock.advance(60_000)
    expect([socket.sent.length, socket.closedWith]).toEqual([10, null])
  })

  it('that are few close the connection when nothing is taken for a minute', async () => {
    const { clock, socket, outbox } = made()
    void outbox.answer(bytes(400))
    await clock.advance(59_999)
    expect(socket.closedWith).toBeNull()
    await clock.advance(1)
    expect(socket.closedWith).toMatchObject({ code: 1008 })
  })
})

describe('notifications', () => {
  it('that wait behind a long answer count against what may be held', async () => {
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
    const taken = [1_000, 601, 1].map((length) => outbox.notify(bytes(length)))
    expect([taken, socket.sent]).toEqual([[true, true, false], [10]])
    more.resolve()
    await clock.advance(1)
    await answered
    expect(socket.sent).toEqual([10, 10, 0, 1_000, 601])
    socket.take()
    expect(outbox.notify(bytes(1))).toBe(true)
  })
})
