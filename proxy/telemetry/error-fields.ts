// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { RelayError, errorKinds } from '../relay/errors.ts'
import { TransportError } from '../upstream/transport.ts'

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
export function describeError(error: Error, stacks: boolean): ErrorFields {
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
