// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseConfig } from '../../proxy/config/parse.ts'
import { Cursor, valueEnd } from '../../proxy/json/scanner.ts'
import { JsonTracker } from '../../proxy/json/tracker.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { serveRouter } from '../served/served-router.ts'
import { createChainModel } from '../upstream-sim/chain-model.ts'
import { startSimNode } from '../upstream-sim/sim-node.ts'
import { decoderTaking, startGoDecoder } from './decoders.ts'
import { expectSameReadings } from './same-reading.ts'

/*
 * Mutated documents, requests, HTTP heads and config files, each for a quarter of the time:
 * `make fuzz` (MINUTES=10, SEED=n). A failure names its seed.
 */

const minutes = Number(process.env['FUZZ_MINUTES'] ?? 0.5)
const forMs = (minutes * 60_000) / 4
const timeoutMs = forMs + 60_000
const options = {
  numRuns: 1e9,
  interruptAfterTimeLimit: forMs,
  ...(process.env['SEED'] && { seed: Number(process.env['SEED']) }),
}

function corpus(name: string): string[] {
  const text = readFileSync(new URL(`corpus/${name}.txt`, import.meta.url), 'utf8')
  return text.split('\n').filter((line) => line !== '')
}

/** One of the texts with pieces removed, inserted, repeated or replaced. */
function mutated(texts: readonly string[], pieces: readonly string[]): fc.Arbitrary<string> {
  const edit = fc.record({
    at: fc.nat(1e6),
    drop: fc.nat(5),
    put: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 3, unit: 'binary' })),
    times: fc.oneof(
      { weight: 20, arbitrary: fc.constant(1) },
      { weight: 1, arbitrary: fc.nat(300) },
    ),
  })
  return fc
    .tuple(fc.constantFrom(...texts), fc.array(edit, { maxLength: 6 }))
    .map(([text, edits]) =>
      edits.reduce((from, { at, drop, put, times }) => {
        const cut = at % (from.length + 1)
        return from.slice(0, cut) + put.repeat(times) + from.slice(cut + drop)
      }, text),
    )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const tokens = [...'"\\{}[]:,-+.eE01 \t\n', 'null', 'true', '\\u12', '\\ud800', '\u0000', '\ufeff']

test(
  'the scanner accepts what JSON.parse accepts, and nothing else',
  { timeout: timeoutMs },
  () => {
    fc.assert(
      fc.property(mutated(corpus('documents'), tokens), fc.nat(60), (text, cut) => {
        const bytes = Buffer.from(text.toWellFormed())
        const whole = bytes.toString()
        const end = valueEnd(bytes, 0)
        const isRight = end >= 0 && /^[ \t\r\n]*$/.test(bytes.toString('latin1', end))
        expect(isRight).toBe(isJson(whole))
        // The incremental reader checks less, but never refuses a valid document.
        const isContainer = /^[ \t\r\n]*[[{"]/.test(whole)
        if (isRight && isContainer) {
          const tracker = new JsonTracker([])
          tracker.push(bytes.subarray(0, cut))
          tracker.push(bytes.subarray(cut))
          expect([tracker.problem, tracker.isComplete]).toEqual([null, true])
        }
        if (!isRight || !/^[ \t\r\n]*\{/.test(whole)) return
        const cursor = new Cursor(bytes, bytes.indexOf('{'))
        const names = new Set<unknown>()
        while (cursor.next())
          names.add(JSON.parse(bytes.toString('utf8', cursor.nameStart, cursor.nameEnd)))
        expect(names).toEqual(new Set(Object.keys(JSON.parse(whole) as object)))
      }),
      options,
    )
  },
)

test(
  'decoders of Go and other languages read the call that the router classified',
  { timeout: timeoutMs },
  async () => {
    await using go = await startGoDecoder()
    const ways = (['first', 'last'] as const).flatMap((which) =>
      [true, false].map((ignoresCase) => decoderTaking(which, ignoresCase)),
    )
    await expectSameReadings([go.decode, ...ways], options)
  },
)

const words = [
  'Host: a\r\n',
  '\r\n',
  '\n',
  '\r',
  ' ',
  ':',
  'chunked',
  'Content-Length: 5\r\n',
  '0\r\n\r\n',
  'HTTP/1.1',
  '\u0000',
  '{}',
  '%2e',
  '//',
]

test(
  'a listener answers any bytes in HTTP or closes the connection, and survives',
  { timeout: timeoutMs },
  async () => {
    await using stack = new AsyncDisposableStack()
    const node = stack.use(await startSimNode({ chain: createChainModel(), name: 'a' }))
    const router = stack.use(await serveRouter({ primaries: [node] }))
    const body = '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}   '
    const heads = corpus('heads').map((head) => `${head.replaceAll('|', '\r\n')}\r\n\r\n${body}`)
    let runs = 0
    const property = fc.asyncProperty(mutated(heads, words), async (text) => {
      const answer = await exchange(router.port, Buffer.from(text, 'latin1'))
      expect(answer).toMatch(/^(?:HTTP\/1\.1 [1-5]\d\d |$)/)
      if (runs++ % 20 === 0) expect(await askRpc(router.url, 'eth_chainId')).toBe('0x1')
    })
    await fc.assert(property, options)
  },
)

/** Sends bytes to a listener, and returns its output until it is idle or closes. */
function exchange(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    const over = () => {
      socket.destroy()
      resolve(answer)
    }
    socket
      .on('data', (piece: Buffer) => (answer += piece.toString('latin1')))
      .on('error', () => {})
      .on('close', over)
    // A half-close tells the listener that an unfinished request will not continue.
    socket.end(bytes)
    socket.setTimeout(200, over)
  })
}

const yaml = [
  '\n',
  '  ',
  '- ',
  ': ',
  '"',
  "'",
  '[',
  '{',
  '${A}',
  '$<',
  '&a ',
  '*a',
  '!!map ',
  '|',
  '#',
  '\t',
  '%',
  'null',
  '<<: *a',
]

test(
  'parsing any text returns a config or readable problems, and never throws',
  { timeout: timeoutMs },
  () => {
    const examples = new URL('../../examples/', import.meta.url)
    const texts = readdirSync(examples)
      .filter((name) => name.endsWith('.yml'))
      .map((name) => readFileSync(new URL(name, examples), 'utf8'))
    fc.assert(
      fc.property(mutated(texts, yaml), (text) => {
        const { config, problems } = parseConfig(text, { environment: { A: 'b' }, flags: {} })
        const errors = problems.filter(({ severity }) => severity === 'error')
        expect(config === null).toBe(errors.length > 0)
        for (const { message } of problems) expect(message).toMatch(/\w+ \w+/)
      }),
      options,
    )
  },
)
