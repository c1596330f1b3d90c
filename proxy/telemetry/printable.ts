// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../relay/errors.ts'
import { TransportError } from '../upstream/transport.ts'

/** Takes secrets out of a text. */
export type Redactor = (text: string) => string

/** How much of anything reaches the log: text in characters, lists and records in entries. */
const maxText = 1_000
const maxEntries = 20
const maxDepth = 6

/**
 * A copy of a log field that is plain JSON, bounded, and holds no secret: each text and each key
 * in it went through the redactor, before it was cut.
 */
export function printable(value: unknown, redact: Redactor, stacks: boolean, depth = 0): unknown {
  switch (typeof value) {
    case 'string':
      return cut(redact(value))
    case 'number':
    case 'boolean':
    case 'undefined':
      return value
    case 'object':
      break
    default:
      return cut(redact(String(value)))
  }
  if (value === null) return null
  if (depth >= maxDepth) return '[deeper]'
  const inner = (one: unknown) => printable(one, redact, stacks, depth + 1)
  if (value instanceof Error) {
    const fields = describeError(value, stacks)
    return printable({ ...fields }, redact, stacks || fields.stack !== undefined, depth)
  }
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if ('toJSON' in value && typeof value.toJSON === 'function')
    return inner((value as { toJSON(): unknown }).toJSON())
  if (Array.isArray(value)) {
    const kept = value.slice(0, maxEntries).map(inner)
    return value.length > maxEntries ? [...kept, `[${value.length - maxEntries} more]`] : kept
  }
  const kept = Object.entries(value).slice(0, maxEntries)
  return Object.fromEntries(kept.map(([key, one]) => [cut(redact(key)), inner(one)]))
}

function cut(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}[${text.length - maxText} more]` : text
}

/** An error as the log tells it. */
interface ErrorFields {
  /** The stable code where it has one, else the name of its class. */
  readonly code: string
  readonly message: string
  /** One frame a line. */
  readonly stack?: readonly string[]
  /** As it was kept: another error, as a rule. */
  readonly cause?: unknown
  /** Of an `AggregateError`. */
  readonly errors?: readonly unknown[]
}

const maxFrames = 12

/**
 * What one error says. `stacks` adds the stack; a programmer's error shows it in any case, since
 * nobody can find it otherwise.
 */
function describeError(error: Error, stacks: boolean): ErrorFields {
  return {
    code: codeOf(error),
    message: error.message,
    ...((stacks || isDefect(error)) && { stack: framesOf(error) }),
    ...(error.cause !== undefined && { cause: error.cause }),
    ...(error instanceof AggregateError && { errors: error.errors as unknown[] }),
  }
}

function codeOf(error: Error): string {
  if (error instanceof RelayError) return error.kind.code
  if (error instanceof TransportError) return error.fault
  if ('code' in error && typeof error.code === 'string') return error.code
  return error.name
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
