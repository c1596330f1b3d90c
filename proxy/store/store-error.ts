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
  | 'cannot-save'
  | 'no-replicas'
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
  'cannot-save': 'it refuses writes, because it cannot save to its disk; reads work',
  'no-replicas': 'it refuses writes, because too few replicas are in step; reads work',
  loading: 'it is loading its data',
  recovering:
    'it restarted or lost its data, and is closed until replicas have restored their sessions, for seconds',
  refused: 'it refused a command',
}

/** Faults by the first word of a Redis error, with their meaning if it is a special one. */
const replies: Readonly<Record<string, readonly [StoreFault, meaning?: string]>> = {
  WRONGPASS: ['unauthorized'],
  NOAUTH: ['unauthorized', 'it requires a password'],
  NOPERM: ['unauthorized', 'its ACL denies the user a command, a key or a channel'],
  READONLY: ['read-only'],
  OOM: ['full'],
  MISCONF: ['cannot-save'],
  NOREPLICAS: ['no-replicas'],
  LOADING: ['loading'],
  BUSY: ['loading', 'it is busy with a script'],
  MASTERDOWN: ['loading', 'it is a replica that has lost its master'],
  CLUSTERDOWN: ['loading', 'its cluster is down'],
  TRYAGAIN: ['loading', 'its cluster is moving keys'],
}

/** An error of the client library. An error reply of Redis includes its command. */
type ClientError = Partial<NodeJS.ErrnoException> & {
  readonly command?: { readonly name: string; readonly args?: readonly unknown[] }
}

/**
 * The only error that stores throw. It omits the client's error, because that contains the
 * command's arguments, which may include the password.
 */
export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code = 'RPC_STORE'
  readonly fault: StoreFault

  constructor(fault: StoreFault, word = '', meaning = meanings[fault]) {
    super(`the store failed: ${meaning}${word && ` (${word})`}`)
    this.fault = fault
  }

  /** Classifies an error of the client, or an error reply of Redis. */
  static from(error: unknown): StoreError {
    if (error instanceof StoreError) return error
    const { message = '', name = '', code = '', command } = error as ClientError
    const [word = ''] = /WRONGPASS|NOAUTH|^[A-Z]{2,16}\b/.exec(message) ?? []
    const isAuth = /WRONGPASS|NOAUTH/.test(word)
    if (message === 'Command timed out') return new StoreError('timeout')
    if (message.includes('invalid password')) return new StoreError('unauthorized')
    if (command?.name === 'select' && !isAuth) return new StoreError('no-database', word)
    const [fault, meaning] = replies[word] ?? ['refused']
    if (fault === 'refused' && name === 'ReplyError')
      return new StoreError(fault, ownWords(message, command?.args ?? []))
    if (isAuth || name === 'ReplyError') return new StoreError(fault, word, meaning)
    return new StoreError('unreachable', /^[A-Z_0-9]{3,40}$/.test(code) ? code : '')
  }
}

/** The message of Redis up to its first quoted argument, with repeated arguments masked. */
function ownWords(message: string, args: readonly unknown[]): string {
  const [text = ''] = message.split(/[\s(:]['"`]/)
  const secrets = args.map(String).filter(({ length }) => length > 3)
  return secrets.reduce((all, each) => all.replaceAll(each, '***'), text).slice(0, 120)
}
