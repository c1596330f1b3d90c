// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Why the store did not execute a command. */
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

/** Faults by the first word of a Redis error. */
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

/** An error of the client library. An error reply of Redis includes its command. */
type ClientError = Partial<NodeJS.ErrnoException> & { readonly command?: { readonly name: string } }

/**
 * The only error that stores throw. It omits the client's message and error, because both contain
 * the command's arguments, which may include the password.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code = 'RPC_STORE'
  readonly fault: StoreFault

  constructor(fault: StoreFault, word = '') {
    super(`the store failed: ${meanings[fault]}${word && ` (${word})`}`)
    this.fault = fault
  }

  /** Classifies an error of the client, or an error reply of Redis. */
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
