// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Secret } from '../config/secret.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { TransportError } from '../upstream/wire.ts'
import { type LogFormat, logFormats, type LogLevel, logLevels } from '../config/types.ts'
import { createLogger, type Logger } from './log.ts'

const canary = 'cana"ry\\sec\nret'
const redact = (text: string) => text.replaceAll(canary, '[redacted]')

function make(format: LogFormat, level: LogLevel = 'info'): { logger: Logger; lines: string[] } {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  return { logger: createLogger({ level, format, redact, destination }), lines }
}

/** The single JSON record that `write` produces. */
function recordOf(write: (logger: Logger) => void, level: LogLevel = 'info') {
  const { logger, lines } = make('json', level)
  write(logger)
  expect(lines).toHaveLength(1)
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>
}

test('a JSON line has time, level, message and the fields', () => {
  const record = recordOf((logger) => logger.warn('watch out', { chain: 'ETH1', count: 3 }))
  expect(record).toEqual({
    level: 'warn',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    chain: 'ETH1',
    count: 3,
    msg: 'watch out',
  })
})

test('a text line starts with its subject, and is readable', () => {
  const { logger, lines } = make('text')
  logger.info('upstream changed state', {
    chain: 'ETH1',
    interface: 'jsonrpc',
    upstream: 'node-a',
    why: '5 in a row',
    sent: 2,
    on: ['x'],
  })
  expect(lines[0]?.replace(/^\S+/, 'TIME')).toBe(
    'TIME INFO  ETH1/jsonrpc node-a: upstream changed state why="5 in a row" sent=2 on=["x"]\n',
  )
})

test('an error is one sentence in text', () => {
  const { logger, lines } = make('text')
  const cause = new TransportError('refused', 'no listener', false, { cause: new Error('why') })
  const error = new RelayError(errorKinds.upstreamFailed, 'every attempt failed', { cause })
  logger.warn('request failed', { error, guid: 'g-1' })
  expect(lines[0]?.replace(/^\S+/, 'TIME')).toBe(
    'TIME WARN  request failed guid=g-1 error="every attempt failed (RPC_UPSTREAM_FAILED), ' +
      'caused by: no listener (refused), caused by: why (Error)"\n',
  )
})

test('on a terminal the level has a colour, and the rest of the line is the same', () => {
  const [plain, coloured] = [false, true].map((colours) => {
    const written: string[] = []
    const destination = { write: (line: string) => void written.push(line) }
    const options = { level: 'info', format: 'text', redact, colours, destination } as const
    createLogger(options).error('broken', { why: '\u001b[2J' })
    return written[0]?.replace(/\d{4}-\S+Z/, 'TIME') ?? ''
  })
  expect(coloured).toContain('\u001b[31;1mERROR\u001b[0m')
  // oxlint-disable-next-line no-control-regex
  expect(coloured?.replaceAll(/\u001b\[[\d;]+m/g, '')).toBe(plain)
})

test.each(logFormats.flatMap((format) => logLevels.map((level) => [format, level] as const)))(
  'as %s, level %s excludes lower levels',
  (format, level) => {
    const { logger, lines } = make(format, level)
    for (const one of logLevels) logger[one](`at ${one}`)
    const written = logLevels.slice(logLevels.indexOf(level))
    expect(lines.map((line) => /at (\w+)/.exec(line)?.[1])).toEqual(written)
    expect(logLevels.filter((one) => logger.writes(one))).toEqual(written)
  },
)

class Holder {
  toJSON() {
    return { inside: canary }
  }
}
const failed = new Error(`outer ${canary}`, { cause: new Error(`inner ${canary}`) })
const defect = new TypeError(`defect ${canary}`)
const hidingPlaces: [string, (logger: Logger) => void][] = [
  ['the message', (logger) => logger.error(`text ${canary}`)],
  ['a field', (logger) => logger.error('x', { field: `?key=${canary}` })],
  ['a key', (logger) => logger.error('x', { [canary]: 1 })],
  ['a nested key', (logger) => logger.error('x', { a: { b: { [canary]: 1 } } })],
  ['a list', (logger) => logger.error('x', { list: ['a', [canary]] })],
  ['an error', (logger) => logger.error('x', { error: failed })],
  ['an internal error with its stack', (logger) => logger.error('x', { error: defect })],
  ['an aggregate', (logger) => logger.error('x', { error: new AggregateError([failed], canary) })],
  [
    'a cause that is not an error',
    (logger) => logger.error('x', { error: new Error('y', { cause: canary }) }),
  ],
  ['a URL object', (logger) => logger.error('x', { url: new URL(`http://a/?k=v`), also: canary })],
  ['a toJSON result', (logger) => logger.error('x', { holder: new Holder() })],
  ['a symbol', (logger) => logger.error('x', { symbol: Symbol(canary) })],
  ['a long text, at the cut', (logger) => logger.error('x', { long: 'a'.repeat(990) + canary })],
]
test.each(
  hidingPlaces.flatMap(([place, write]) =>
    logFormats.flatMap((format) =>
      (['debug', 'info'] as const).map((level) => [place, format, level, write] as const),
    ),
  ),
)('a secret in %s is not in the log as %s at %s', (_place, format, level, write) => {
  const { logger, lines } = make(format, level)
  write(logger)
  expect(lines).toHaveLength(1)
  for (const form of [
    canary,
    JSON.stringify(canary).slice(1, -1),
    'cana',
    'sec\\nret',
    'sec\\\\nret',
  ])
    expect(lines[0]).not.toContain(form)
})

test('a Secret shows its printable form', () => {
  const record = recordOf((logger) =>
    logger.info('x', { url: new Secret('k', 'https://a.example') }),
  )
  expect(record['url']).toBe('https://a.example')
})

test('an expected error is written as code, message and causes, without stacks', () => {
  const cause = new TransportError('refused', 'no listener', false, {
    cause: Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' }),
  })
  const error = new RelayError(errorKinds.upstreamFailed, 'every attempt failed', { cause })
  expect(recordOf((logger) => logger.warn('x', { error }))['error']).toEqual({
    code: 'RPC_UPSTREAM_FAILED',
    message: 'every attempt failed',
    cause: {
      code: 'refused',
      message: 'no listener',
      cause: { code: 'ECONNREFUSED', message: 'connect failed' },
    },
  })
})

const stackCases: [string, Error, LogLevel, boolean][] = [
  ['an expected error at info', new Error('x'), 'info', false],
  ['an expected error at debug', new Error('x'), 'debug', true],
  ['a TypeError', new TypeError('x'), 'info', true],
  ['a TypeError with a code, as Node throws for bad input', codedTypeError(), 'info', false],
  ['an internal error', new RelayError(errorKinds.internal, 'x'), 'error', true],
]
function codedTypeError(): Error {
  return Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' })
}
test.each(stackCases)('%s: a stack or none', (_name, error, level, hasStack) => {
  const logged = recordOf((logger) => logger.error('x', { error }), level)['error']
  expect((logged as { stack?: string[] }).stack?.[0]?.startsWith('at ') ?? false).toBe(hasStack)
})

test('the cause of an internal error shows its stack too', () => {
  const error = new RelayError(errorKinds.internal, 'x', { cause: new Error('invariant') })
  const logged = recordOf((logger) => logger.error('x', { error }))['error']
  expect((logged as { cause: { stack?: string[] } }).cause.stack?.[0]).toMatch(/^at /)
})

const loop = new Error('loop')
loop.cause = loop
const odd: [string, unknown][] = [
  ['a circle of causes', loop],
  ['a long text', 'v'.repeat(100_000)],
  ['a deep list', JSON.parse('['.repeat(500) + ']'.repeat(500))],
  ['a bigint', 2n ** 200n],
  ['a function', () => canary],
  ['not a number', Number.NaN],
  ['a map', new Map([['a', 1]])],
  ['null', null],
  ['nothing', undefined],
  [
    'a getter that throws',
    {
      get trap() {
        throw new Error('trap')
      },
    },
  ],
]
test.each(
  odd.flatMap(([name, value]) => logFormats.map((format) => [name, format, value] as const)),
)('%s as %s makes one bounded line', (_name, format, value) => {
  const { logger, lines } = make(format)
  logger.info('odd', value instanceof Error ? { error: value } : { value })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('odd')
  expect(lines[0]?.length).toBeLessThan(30_000)
})

// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

test('no text can start a new line, move the cursor or pass for another field', () => {
  const evil = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.constantFrom(
      'a\nb',
      'a\r\nERROR x',
      '\u001b[2K',
      '\u009b2J',
      '\u2028',
      '\u202e',
      'a b=c',
      '"',
    ),
  )
  fc.assert(
    fc.property(evil, evil, (text, key) => {
      const { logger, lines } = make('text')
      logger.info('m', { [`k${key}`]: text, last: 'end' })
      const line = lines[0] ?? ''
      expect(line.endsWith(' last=end\n')).toBe(true)
      expect(line.slice(0, -1)).not.toMatch(unsafe)
    }),
  )
})
