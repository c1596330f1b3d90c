// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const listener = (file: string) => `proxy/listener/${file}.ts`

/** Mistakes in what serves the clients. */
export const listenerMutants: readonly Mutant[] = [
  {
    name: 'a subscription that opens when its client has left is kept',
    file: listener('session/session-subscriptions'),
    text: '        subscription.unsubscribe()\n        throw new CallAborted()',
    replacement: '        throw new CallAborted()',
  },
  {
    name: 'a client that does not read a stream is waited for',
    file: listener('http/node-exchange'),
    text: '    response.setTimeout(this.#stalledMs)\n    return new Promise',
    replacement: '    return new Promise',
  },
  {
    name: 'who speaks JSON-RPC 1.0 gets an answer without an error',
    file: 'proxy/listener/jsonrpc/jsonrpc-reply-reader.ts',
    text: "this.#isVersion1 ? ['', '\"error\":null,']",
    replacement: "false ? ['', '']",
  },
  {
    name: 'a client that does not read has all of its batch asked for',
    file: listener('jsonrpc/jsonrpc-batch'),
    text: ' && heldBytes < maxHeldBytes',
    replacement: '',
  },
]
