// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pino, stdTimeFunctions } from 'pino'
import type { Clock } from '../clock/clock.ts'
import type { LogFormat, LogLevel } from '../config/types.ts'
import { RelayError, errorKinds } from '../relay/errors.ts'
import { TransportError } from '../upstream/wire.ts'

/** Fields of a line. An `error` becomes code, message and causes. Masks secrets, cuts texts. */
export type LogFields = Readonly<Record<string, unknown>>

/** The log of the process. Never throws. */
export interface Logger extends Readonly<
  Record<LogLevel, (message: string, fields?: LogFields) => void>
> {
  /** Whether lines of this level are written. Check this before building costly fields. */
  writes(level: LogLevel): boolean
}

/** The log of a process, whose level and format a reload changes. */
export interface ProcessLogger extends Logger {
  set(options: Pick<LoggerOptions, 'level' | 'format'>): void
}

interface LoggerOptions {
  /** Lines below this level are not written. At `debug`, errors include their stacks. */
  readonly level: LogLevel
  readonly format: LogFormat
  /** Masks secrets in a text. Applied to every text and key of a line before truncation. */
  readonly redact: (text: string) => string
  /** Fields of every line. */
  readonly base?: LogFields
  /** Whether to colour levels, for a terminal. */
  readonly colours?: boolean
  /** Receives one whole line at a time, with its line end. Defaults to standard output. */
  readonly destination?: { write(line: string): void }
}

const maxText = 1_000
const maxCauses = 5
const maxFrames = 12
/** One string of a JSON text, with its quotes. */
const jsonString = /"(?:[^"\\]+|\\.)*"/g

/** Creates a synchronous logger: a line is written when the call returns. */
export function createLogger(options: LoggerOptions): ProcessLogger {
  const { level, redact, base = null, colours = false } = options
  let { format } = options
  const sink = options.destination ?? pino.destination({ dest: 1, sync: true })
  const clean = (line: string): string =>
    line.replace(jsonString, (text) => JSON.stringify(cut(redact(JSON.parse(text) as string))))
  const lines = pino(
    {
      level,
      base,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: (error: unknown) => described(error, lines.level === 'debug') },
      hooks: {
        streamWrite: (line) => (format === 'json' ? clean(line) : formatText(clean(line), colours)),
      },
    },
    sink,
  )
  const at =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) =>
      lines[level](fields, message)
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    writes: (at) => lines.isLevelEnabled(at),
    set(next) {
      lines.level = next.level
      format = next.format
    },
  }
}

/** A number of lines per window. */
export interface LineRate {
  readonly lines: number
  readonly perMs: number
}

/** Returns whether one more line may be written; if not, counts it as suppressed. */
export type TakeLine = () => boolean

/**
 * Limits the rate per kind of line, so that no kind of event floods the log. A window starts with
 * an event. Lines beyond the limit are counted, and reported at the end of the window: `failed
 * requests suppressed`.
 */
export function lineLimits(logger: Pick<Logger, LogLevel>, clock: Clock, labels: LogFields) {
  return (
    { lines, perMs }: LineRate,
    level: LogLevel,
    what: string,
    more?: () => LogFields,
  ): TakeLine => {
    let openedMs = -Infinity
    let written = 0
    let suppressed = 0
    const endWindow = () => {
      logger[level](`${what} suppressed`, { ...labels, suppressed, ...more?.() })
      suppressed = 0
      openedMs = -Infinity
    }
    return () => {
      const nowMs = clock.nowMs()
      if (suppressed === 0 && nowMs - openedMs >= perMs) {
        openedMs = nowMs
        written = 0
      }
      if (written < lines) {
        written += 1
        return true
      }
      suppressed += 1
      if (suppressed === 1) clock.after(openedMs + perMs - nowMs, endWindow)
      return false
    }
  }
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}[${text.length - maxText} more]` : text
}

/**
 * Describes an error; `stacks` adds the stack. An internal error always includes its stack and
 * those of its causes, for diagnosis.
 */
function described(error: unknown, stacks: boolean, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  if (depth > maxCauses) return '[deeper]'
  const shown = stacks || isDefect(error)
  const inner = (one: unknown) => described(one, shown, depth + 1)
  return {
    code: codeOf(error),
    message: error.message,
    ...(shown && { stack: framesOf(error) }),
    ...(error.cause !== undefined && { cause: inner(error.cause) }),
    ...(error instanceof AggregateError && { errors: error.errors.map(inner) }),
  }
}

/** The stable code if it has one, otherwise the name of its class. */
function codeOf(error: Error): string {
  if (error instanceof RelayError) return error.kind.code
  if (error instanceof TransportError) return error.fault
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name
}

function isDefect(error: Error): boolean {
  if (error instanceof RelayError) return error.kind === errorKinds.internal
  if (error instanceof TypeError || error instanceof RangeError) return !('code' in error)
  return error instanceof ReferenceError || error.name === 'AssertionError'
}

function framesOf(error: Error): string[] {
  const lines = (error.stack ?? '').split('\n').map((line) => line.trim())
  return lines.filter((line) => line.startsWith('at ')).slice(0, maxFrames)
}

/** Text that a terminal or other reader might take for a command, a line end or a direction. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const plain = /^[\w.:/@+-]+$/

const levelColours: Readonly<Record<string, string>> = { warn: '33', error: '31;1', debug: '2' }

/**
 * Formats a record for humans: `time LEVEL ETH1/jsonrpc node-a: message key=value`. A value other
 * than a plain word is quoted as JSON, so it cannot end the line or pass for another field.
 */
function formatText(line: string, colours: boolean): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Readonly<Record<string, unknown>>
  const { chain, interface: apiInterface, upstream, error, ...others } = fields
  const paint = (style: string | undefined, text: string) =>
    colours && style ? `\u001b[${style}m${text}\u001b[0m` : text
  const served = [chain, apiInterface].filter((each) => each !== undefined).map(word)
  const about = [served.join('/'), ...(upstream === undefined ? [] : [word(upstream)])]
  const subject = about.filter((each) => each !== '').join(' ')
  const words = [
    paint('2', escaped(String(time))),
    paint(levelColours[String(level)], String(level).toUpperCase().padEnd(5)),
    `${subject}${subject && ': '}${escaped(String(msg))}`,
  ]
  for (const [key, value] of Object.entries(others)) words.push(`${word(key)}=${word(value)}`)
  if (error !== undefined) words.push(`error=${word(errorText(error))}`, ...stackWords(error))
  return `${words.join(' ')}\n`
}

/** An error as `described` returns it. */
interface Described {
  readonly code?: string
  readonly message?: string
  readonly stack?: unknown
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

/** Formats `every attempt failed (RPC_UPSTREAM_FAILED), caused by: no listener (refused)`. */
function errorText(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error)
  const { code, message, cause, errors = [] } = error as Described
  if (message === undefined) return JSON.stringify(error)
  const own = code === undefined ? message : `${message} (${code})`
  const causes = [...(cause === undefined ? [] : [cause]), ...errors].map(errorText)
  return [own, ...causes].join(', caused by: ')
}

/** The stacks of an internal error and its causes. */
function stackWords(error: unknown): readonly string[] {
  const { stack, cause } = (error ?? {}) as Described
  const causes = cause === undefined ? [] : stackWords(cause)
  return stack === undefined ? causes : [`stack=${word(stack)}`, ...causes]
}

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  if (plain.test(text)) return text
  return escaped(typeof value === 'string' ? JSON.stringify(value) : text)
}

function escaped(text: string): string {
  return text.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
