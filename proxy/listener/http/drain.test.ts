// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Agent, request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { VirtualClock } from '../../clock/testing/virtual-clock.ts'
import type { Reply } from '../../relay/reply.ts'
import { RawClient, echoRelay, rawPost, reply, startListener } from '../testing/listener-fixture.ts'

const call = '{"jsonrpc":"2.0","id":1,"method":"m"}'

function ask(agent: Agent, port: number): Promise<{ status: number; connection: string }> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, method: 'POST', agent }, (response) => {
      response.resume().on('end', () => {
        resolve({ status: response.statusCode ?? 0, connection: response.headers.connection ?? '' })
      })
    })
    sent.on('error', reject)
    sent.end(call)
  })
}

/** Advances time while the event loop is blocked, as in a process starved of CPU. */
class StalledClock extends VirtualClock {
  #lateMs = 0
  #timers: (() => void)[] = []

  get waiting(): number {
    return this.#timers.length
  }

  override nowMs(): number {
    return this.#lateMs
  }

  override after(_: number, run: () => void): () => void {
    this.#timers.push(run)
    return () => void (this.#timers = this.#timers.filter((each) => each !== run))
  }

  stall(ms: number): void {
    this.#lateMs += ms
    for (const run of this.#timers.splice(0)) run()
  }
}

describe('a drain', () => {
  test('without connections ends at once', async () => {
    await using fixture = await startListener(echoRelay)
    await expect(fixture.drain()).resolves.toBeUndefined()
  })

  test('waits for calls in flight and then closes their connections', async () => {
    let answer: (reply: Reply) => void = () => undefined
    await using fixture = await startListener(() => new Promise((resolve) => (answer = resolve)))
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await expect.poll(() => fixture.calls).toHaveLength(1)
    let isDrained = false
    const drained = fixture.drain().then(() => (isDrained = true))
    using late = new RawClient(fixture.port)
    late.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await late.untilClosed()).toMatch(/^HTTP\/1\.1 200 .*Connection: close/s)
    expect(isDrained).toBe(false)
    answer(reply('{"id":1,"result":1}'))
    expect(await client.untilClosed()).toMatch(/Connection: close.*"result":1\}$/s)
    await drained
    expect(fixture.openConnections()).toBe(0)
  })

  test('answers a kept-alive connection once more and closes it', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    expect(await client.until(/\}$/)).toMatch(/Connection: keep-alive/)
    const drained = fixture.drain()
    client.write(rawPost(call))
    expect(await client.untilClosed()).toMatch(/Connection: close.*"result":"m"\}$/s)
    await drained
  })

  test('closes no connection while its client may be sending a request', async () => {
    const clock = new StalledClock()
    await using fixture = await startListener(echoRelay, { clock })
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    expect(await client.until(/\}$/)).toMatch(/Keep-Alive: timeout=15\r/)
    const ended = Promise.all([fixture.drain(), fixture.settle()])
    for (let poll = 0; poll < 5; poll++) {
      await expect.poll(() => clock.waiting).toBe(2)
      clock.stall(5_000)
    }
    expect(client.socket.readableEnded).toBe(false)
    client.write(rawPost(call))
    expect(await client.untilClosed()).toMatch(/Connection: close.*"result":"m"\}$/s)
    let isOver = false
    void ended.then(() => (isOver = true))
    await expect.poll(() => (clock.stall(600), isOver)).toBe(true)
  })

  test('answers requests that arrived while the blocked process looked idle', async () => {
    const clock = new StalledClock()
    await using fixture = await startListener(echoRelay, { clock })
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    expect(await client.until(/\}$/)).toMatch(/Connection: keep-alive/)
    const ended = fixture.drain().then(() => fixture.settle())
    await expect.poll(() => clock.waiting).toBe(1)
    // No event-loop turn separates the request, already in its socket, from the time jump.
    client.write(rawPost(call))
    clock.stall(2_000)
    expect(await client.untilClosed()).toMatch(/Connection: close.*"result":"m"\}$/s)
    let isOver = false
    void ended.then(() => (isOver = true))
    await expect.poll(() => (clock.stall(600), isOver)).toBe(true)
  })

  test('waits for a request that is still being sent', async () => {
    const clock = new VirtualClock()
    await using fixture = await startListener(echoRelay, { clock })
    using client = new RawClient(fixture.port)
    const bytes = rawPost(call)
    client.write(bytes)
    await client.until(/\}$/)
    client.write(bytes.subarray(0, -5))
    // Real sockets need event-loop turns, which virtual time does not provide.
    for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
    let isDrained = false
    const drained = fixture.drain().then(() => (isDrained = true))
    await clock.advance(5_000)
    expect(isDrained).toBe(false)
    client.write(bytes.subarray(-5))
    expect(await client.untilClosed()).toMatch(/"result":"m"\}.*"result":"m"\}$/s)
    // Real sockets with a virtual clock: the loop advances time.
    await expect
      .poll(async () => {
        await clock.advance(500)
        return isDrained
      })
      .toBe(true)
    expect(fixture.openConnections()).toBe(0)
    await drained
  })

  test('under steady load fails no request from kept-alive clients', async () => {
    await using fixture = await startListener(async (call) => {
      await new Promise((resolve) => setTimeout(resolve, 3))
      return echoRelay(call)
    })
    const agent = new Agent({ keepAlive: true, maxSockets: 16 })
    let isOver = false
    let answered = 0
    const failures: unknown[] = []
    const client = async () => {
      while (!isOver) {
        try {
          expect((await ask(agent, fixture.port)).status).toBe(200)
          answered += 1
        } catch (error) {
          // The server has stopped listening, so the request was never sent.
          if ((error as { code?: string }).code === 'ECONNREFUSED') return
          failures.push(error)
        }
      }
    }
    const clients = [...Array(16).keys()].map(client)
    await expect.poll(() => answered).toBeGreaterThan(100)
    const closed = fixture.drain()
    await expect.poll(() => answered).toBeGreaterThan(200)
    isOver = true
    await Promise.all(clients)
    await closed
    await fixture.close()
    agent.destroy()
    expect(failures).toEqual([])
  })
})

describe('a close', () => {
  test('ends idle connections without a reset', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await client.until(/\}$/)
    const closed = fixture.close()
    await client.untilClosed()
    client.socket.end()
    await closed
    expect(client.error).toBeNull()
  })

  test('leaves a request that meets it to another server', async () => {
    await using fixture = await startListener(echoRelay)
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await client.until(/\}$/)
    const closed = fixture.close()
    await client.untilClosed()
    client.write(rawPost(call))
    await closed
    expect(fixture.calls).toHaveLength(1)
  })

  test('aborts and ends calls still in flight', async () => {
    await using fixture = await startListener(
      (call) =>
        new Promise((_, reject) => {
          call.signal.addEventListener('abort', () => {
            reject(new Error('aborted'))
          })
        }),
    )
    using client = new RawClient(fixture.port)
    client.write(rawPost(call))
    await expect.poll(() => fixture.calls).toHaveLength(1)
    await fixture.close()
    expect(await client.untilClosed()).toBe('')
    await expect.poll(() => fixture.ends).toMatchObject([{ kind: 'abandoned' }])
  })
})
