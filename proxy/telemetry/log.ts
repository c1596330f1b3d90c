// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { pino, stdTimeFunctions } from 'pino'
import type { LogFormat, LogLevel } from '../config/types.ts'
import { printable } from './printable.ts'
import type { Redactor } from './printable.ts'

/**
 * What belongs to a line. Any value will do: errors are told as code, message and causes, what is
 * long is cut, what is secret is taken out.
 */
export type LogFields = Readonly<Record<string, unknown>>

/** The log of the process. Never throws. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Whether lines of this level are written: ask before making costly fields. */
  writes(level: LogLevel): boolean
}

/** Where lines go. Each text is one whole line with its end. */
interface LogDestination {
  write(line: string): void
}

interface LoggerOptions {
  /** Lines below it are not written. At `debug`, errors come with their stacks. */
  readonly level: LogLevel
  readonly format: LogFormat
  /** Applied to every text that a line is made of. */
  readonly redact: Redactor
  /** Standard output when left out. */
  readonly destination?: LogDestination
}

/** Makes a logger that writes at once, in this thread: a line is out when the call returns. */
export function createLogger(options: LoggerOptions): Logger {
  const { level, format, redact } = options
  const sink = options.destination ?? pino.destination({ dest: 1, sync: true })
  const stacks = level === 'debug'
  const lines = pino(
    {
      level,
      base: null,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    format === 'json' ? sink : asText(sink),
  )
  const write = (at: LogLevel, message: string, fields?: LogFields): void => {
    if (!lines.isLevelEnabled(at)) return
    lines[at](safeFields(fields ?? {}, redact, stacks), redact(message))
  }
  return {
    debug: (message, fields) => write('debug', message, fields),
    info: (message, fields) => write('info', message, fields),
    warn: (message, fields) => write('warn', message, fields),
    error: (message, fields) => write('error', message, fields),
    writes: (at) => lines.isLevelEnabled(at),
  }
}

/** A getter or a `toJSON` of a stranger's object may throw; a log line must not be lost to it. */
function safeFields(fields: LogFields, redact: Redactor, stacks: boolean): object {
  try {
    return printable(fields, redact, stacks) as object
  } catch (error) {
    return { unprintable: error instanceof Error ? redact(error.message) : 'fields' }
  }
}

function asText(sink: LogDestination): LogDestination {
  return {
    write(line) {
      sink.write(formatText(JSON.parse(line) as Record<string, unknown>))
    },
  }
}

/** Text that a terminal or another reader might take for a command, a line end or a direction. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const plain = /^[\w.:/@+-]+$/

/**
 * One record as one line for people: `time LEVEL message key=value ...`. Values that are not one
 * plain word are quoted as in JSON; no value can end the line or pass for another field.
 */
function formatText(record: Readonly<Record<string, unknown>>): string {
  const { time, level, msg, ...fields } = record
  const words = [escaped(String(time)), String(level).toUpperCase().padEnd(5), escaped(String(msg))]
  for (const [key, value] of Object.entries(fields)) words.push(`${word(key)}=${word(value)}`)
  return `${words.join(' ')}\n`
}

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  if (plain.test(text)) return text
  return escaped(typeof value === 'string' ? JSON.stringify(value) : text)
}

function escaped(text: string): string {
  return text.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
