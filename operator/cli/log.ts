// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'

/** The log of the operator: JSON lines on standard error. */
export function createLogger(level: string, destination: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    messageKey: 'msg',
    errorKey: 'error',
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: errorFields },
  }
  return pino(options, destination)
}

/** An error as its code and its words, and those of what caused it: no fields that it may carry. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  const { cause } = error
  return {
    ...(typeof code === 'string' && { code }),
    message: error.message,
    ...(cause !== undefined && { cause: errorFields(cause) }),
  }
}
