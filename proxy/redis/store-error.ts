// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Cancel } from '../clock/clock.ts'
import type { StoreOptions } from './shared-store.ts'

/** Why the store did not do what it was asked. */
export type StoreFault =
  | 'timeout'
  | 'unreachable'
  | 'unauthorized'
  | 'no-database'
  | 'read-only'
  | 'full'
  | 'loading'
  | 'recovering'
  | 'refused'

const meanings: Readonly<Record<StoreFault, string>> = {
  timeout: 'it did not answer in time',
  unreachable: 'there is no connection to it; see that its address, topology and TLS are right',
  unauthorized: 'it refuses the user name or the password',
  'no-database':
    'it refuses the database of `db`; see that it has so many, and that the user may run SELECT',
  'read-only': 'it is a replica, which takes no writes',
  full: 'it has no memory left',
  loading: 'it is loading its data, or has lost its master',
  recovering:
    'it restarted or lost its data, and is closed until replicas have restored their sessions, for seconds',
  refused: 'it refused a command',
}

/** The first word of what Redis answers. */
const faultOf: Readonly<Record<string, StoreFault>> = {
  WRONGPASS: 'unauthorized',
  NOAUTH: 'unauthorized',
  NOPERM: 'unauthorized',
  READONLY: 'read-only',
  OOM: 'full',
  MISCONF: 'full',
  NOREPLICAS: 'full',
  LOADING: 'loading',
  BUSY: 'loading',
  MASTERDOWN: 'loading',
  CLUSTERDOWN: 'loading',
  TRYAGAIN: 'loading',
}

/** An error of the client. An answer of Redis has its command. */
type ClientError = Partial<NodeJS.ErrnoException> & { readonly command?: { readonly name: string } }

/**
 * The one error of the store. It has neither the client's message nor the client's error as its cause: these hold the
 * arguments of the command, of which one may be the password.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code = 'RPC_STORE'
  readonly fault: StoreFault

  constructor(fault: StoreFault, word = '') {
    super(`the store failed: ${meanings[fault]}${word && ` (${word})`}`)
    this.fault = fault
  }

  /** What an error of the client, or an answer of Redis, means. */
  static from(error: unknown): StoreError {
    if (error instanceof StoreError) return error
    const { message = '', name = '', code = '', command } = error as ClientError
    const [word = ''] = /^[A-Z]{2,16}\b/.exec(message) ?? []
    if (message === 'Command timed out') return new StoreError('timeout')
    if (/invalid password|WRONGPASS|NOAUTH/.test(message)) return new StoreError('unauthorized')
    if (command?.name === 'select') return new StoreError('no-database', word)
    if (name === 'ReplyError') return new StoreError(faultOf[word] ?? 'refused', word)
    return new StoreError('unreachable', /^[A-Z_0-9]{3,40}$/.test(code) ? code : '')
  }
}

/** It answers again when it has done so for this long without a failure: the log shall not grow with flapping. */
const settledMs = 1_000
/** Someone must mend these: the log has them also when there was no connection before. */
const mistakes: readonly StoreFault[] = ['unauthorized', 'no-database']

/** Whether a store answers, from how its commands end. */
export class StoreAvailability {
  readonly #parts: StoreOptions
  /** Since it last answered. */
  readonly #faults = new Set<StoreFault>()
  #cancelSettling: Cancel | null = null

  constructor(parts: StoreOptions) {
    this.#parts = parts
  }

  /** A command begins. @returns to be called with its failure when it ends, or with null */
  began(command: string): (error: StoreError | null) => void {
    const { clock, onCommand } = this.#parts
    const startedMs = clock.nowMs()
    return (error) => {
      this.note(error)
      onCommand?.(command, error?.fault ?? 'success', clock.nowMs() - startedMs)
    }
  }

  /** The connection failed; null: it is there. */
  note(error: StoreError | null): void {
    if (error) {
      this.close()
      const { fault } = error
      const isNews = mistakes.includes(fault) && !this.#faults.has(fault)
      if (isNews || this.#faults.size === 0) this.#parts.onChange(error)
      this.#faults.add(fault)
    } else if (this.#faults.size > 0 && !this.#cancelSettling)
      this.#cancelSettling = this.#parts.clock.after(settledMs, () => {
        this.#cancelSettling = null
        this.#faults.clear()
        this.#parts.onChange(null)
      })
  }

  close(): void {
    this.#cancelSettling?.()
    this.#cancelSettling = null
  }
}
