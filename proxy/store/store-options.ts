// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Clock } from '../clock/clock.ts'
import type { Random } from '../clock/random.ts'
import type { StoreError } from './store-error.ts'

export interface StoreOptions {
  readonly clock: Clock
  readonly random: Random
  /** Command timeout with one retry, in two halves: a busy process still reads its answer. */
  readonly commandTimeoutMs: number
  /** Called when the store fails, or answers again. */
  readonly onChange: (error: StoreError | null) => void
  /** Called when a command ends. @param outcome `success`, or its fault */
  readonly onCommand?: (command: string, outcome: string, ms: number) => void
}

/** Receives changes. */
export interface Subscriber<Message = string> {
  message(message: Message): void
  /** Whether messages arrive from now on; `true` also means that some may have been missed. */
  listening(isUp: boolean): void
}
