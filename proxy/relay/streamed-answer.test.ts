// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { sleep } from '../clock/clock.ts'
import { VirtualClock } from '../clock/testing/virtual-clock.ts'
import { type BodyStream, TransportError } from '../upstream/wire.ts'
import { MalformedAnswer, type StreamValidator } from './reply.ts'
import { StreamedAnswer } from './streamed-answer.ts'

/** A body that yields these chunks, then ends, fails or waits. */
class Source implements BodyStream, AsyncIterator<Uint8Array> {
  readonly head: readonly Uint8Array[] = []
  readonly length = 6
  left = 0
  readonly #pieces: string[]
  readonly #then: 'end' | 'wait' | Error

  constructor(pieces: readonly string[], then: 'end' | 'wait' | Error = 'end') {
    this.#pieces = [...pieces]
    this.#then = then
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) return Promise.resolve({ done: false, value: Buffer.from(piece) })
    if (this.#then instanceof Error) return Promise.reject(this.#then)
    if (this.#then === 'wait') return this.#waiting.promise
    return Promise.resolve({ done: true, value: undefined })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.left += 1
    this.#waiting.resolve({ done: true, value: undefined })
    return Promise.resolve({ done: true, value: undefined })
  }

  readonly #waiting = Promise.withResolvers<IteratorResult<Uint8Array>>()
}

interface Options {
  readonly source: BodyStream
  readonly validator?: Partial<StreamValidator>
  readonly signal?: AbortSignal
  readonly clock?: VirtualClock
}

function follow({
  source,
  validator,
  signal = new AbortController().signal,
  clock = new VirtualClock(),
}: Options) {
  const ends: unknown[] = []
  const whole: StreamValidator | null = validator
    ? { length: null, push: (chunk) => [chunk], end: () => {}, ...validator }
    : null
  const stream = new StreamedAnswer(source, whole, signal, clock, (end) => ends.push(end))
  return { stream, ends, clock }
}

function fail(): never {
  throw new TypeError('a defect')
}

async function readAll(stream: StreamedAnswer): Promise<{ text: string; error: unknown }> {
  let text = ''
  try {
    for await (const chunk of stream) text += Buffer.from(chunk).toString()
    return { text, error: null }
  } catch (error) {
    return { text, error }
  }
}

const cut = new TransportError('truncated', 'cut')

describe('a streamed answer', () => {
  test('yields all bytes and ends once', async () => {
    const source = new Source(['ab', 'cd', 'ef'])
    const { stream, ends } = follow({ source })
    expect(stream.length).toBe(6)
    expect(await readAll(stream)).toEqual({ text: 'abcdef', error: null })
    await stream.return()
    expect(ends).toEqual([null])
    expect(source.left).toBe(0)
  })

  test('yields the output of its validator', async () => {
    const validator = { length: 12, push: (chunk: Uint8Array) => [chunk, chunk] }
    const { stream } = follow({ source: new Source(['ab', 'cd', 'ef']), validator })
    expect(stream.length).toBe(12)
    expect(await readAll(stream)).toEqual({ text: 'ababcdcdefef', error: null })
  })

  test.each([
    ['a connection that breaks', new Source(['ab', 'cd'], cut), {}, 'ab', cut],
    [
      'a premature end',
      new Source(['ab', 'cd']),
      {
        end() {
          throw new MalformedAnswer('JSON that ends early')
        },
      },
      'ab',
      new MalformedAnswer('JSON that ends early'),
    ],
    [
      'an invalid chunk',
      new Source(['ab', 'cd', 'ef'], 'wait'),
      {
        push(chunk: Uint8Array) {
          if (Buffer.from(chunk).toString() === 'ef') throw new MalformedAnswer('no')
          return [chunk]
        },
      },
      'ab',
      new MalformedAnswer('no'),
    ],
  ])('with %s fails before its last chunk', async (_, source, validator, text, error) => {
    const { stream, ends } = follow({ source, validator })
    expect(await readAll(stream)).toEqual({ text, error })
    expect([ends, stream.isReaderSlow]).toEqual([[error], false])
    expect(source.left).toBe(1)
    await expect(stream.next()).rejects.toBe(ends[0])
  })

  test.each<[string, Partial<StreamValidator>]>([
    ['a chunk', { push: () => fail() }],
    ['the end', { end: () => fail() }],
  ])('an exception while validating %s is not the fault of the upstream', async (_, validator) => {
    const source = new Source(['ab'])
    const { stream, ends } = follow({ source, validator })
    const defect = new TypeError('a defect')
    expect(await readAll(stream)).toEqual({ text: '', error: defect })
    expect(ends).toEqual([defect])
    expect(source.left).toBe(1)
  })

  test('reports a slow reader', async () => {
    const { stream, ends, clock } = follow({ source: new Source(['ab', 'cd'], cut) })
    await stream.next()
    await clock.advance(5_001)
    await expect(stream.next()).rejects.toBe(cut)
    expect([ends, stream.isReaderSlow]).toEqual([[cut], true])
  })

  test('does not attribute delays of the upstream to the reader', async () => {
    const clock = new VirtualClock()
    const source: BodyStream = {
      head: [],
      async *[Symbol.asyncIterator]() {
        yield Buffer.from('ab')
        await sleep(clock, 6_000, new AbortController().signal)
        yield Buffer.from('cd')
        throw cut
      },
    }
    const { stream, ends } = follow({ source, clock })
    const all = readAll(stream)
    await clock.advance(6_000)
    expect(await all).toEqual({ text: 'ab', error: cut })
    expect([ends, stream.isReaderSlow]).toEqual([[cut], false])
  })

  test('removes its abort listener at the end', async () => {
    const { signal } = new AbortController()
    const { stream } = follow({ source: new Source(['ab']), signal })
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await readAll(stream)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  test('ends when the reader stops', async () => {
    const source = new Source(['ab', 'cd'], 'wait')
    const { stream, ends } = follow({ source })
    for await (const chunk of stream) {
      expect(chunk).toEqual(Buffer.from('ab'))
      break
    }
    expect(ends).toEqual([new TransportError('aborted', 'the reader left')])
    expect(source.left).toBe(1)
  })

  test('ends when the call is aborted without a reader', () => {
    const source = new Source(['ab'])
    const abort = new AbortController()
    const { ends } = follow({ source, signal: abort.signal })
    abort.abort()
    expect(ends).toEqual([new TransportError('aborted', 'the reader left')])
    expect(source.left).toBe(1)
  })

  test('ends when the call is aborted while the reader waits', async () => {
    const abort = new AbortController()
    const { stream, ends } = follow({ source: new Source([], 'wait'), signal: abort.signal })
    const next = stream.next()
    abort.abort()
    await expect(next).rejects.toMatchObject({ fault: 'aborted' })
    expect(ends).toEqual([new TransportError('aborted', 'the reader left')])
  })

  test('ends at once if the call was aborted before', () => {
    const source = new Source(['ab'])
    const { ends } = follow({ source, signal: AbortSignal.abort() })
    expect(ends).toEqual([new TransportError('aborted', 'the reader left')])
    expect(source.left).toBe(1)
  })
})
