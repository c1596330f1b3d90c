// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Field } from './field.ts'
import { oneOf, text } from './fields.ts'
import { type ApiInterface, apiInterfaces } from '../types.ts'

/** A chain's id or alias. A metric label, so it cannot come from a placeholder. */
export function chainId(): Field<string> {
  return text({
    kind: 'chain id',
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    fault: 'is not a chain id',
    hint: 'Write one such as ETH1: letters, digits, dot, dash and underscore, 64 at most.',
    privacy: 'public',
  })
}

/** The interface of a listener or an upstream. */
export function apiInterface(): Field<ApiInterface> {
  return oneOf(apiInterfaces, 'public', noInterfaces)
}

const noInterfaces: ReadonlyMap<string, string> = new Map([
  ['websocket', 'Write the ws or wss URL into node-urls beside the https one, for jsonrpc.'],
])

/** The name of an upstream or a group: it stands in headers, lists with commas, and metrics. */
export function label(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[!-+\--~](?:[ -+\--~]{0,126}[!-+\--~])?$/,
    fault: `cannot be a ${kind}`,
    hint: 'Printable ASCII without commas and outer spaces, 128 characters at most.',
    privacy: 'public',
  })
}

/** The name of an add-on, an extension, a verification or a method. */
export function word(kind: string): Field<string> {
  return text({
    kind,
    pattern: /^[A-Za-z0-9_*][A-Za-z0-9_./*-]{0,127}$/,
    fault: `cannot be the name of a ${kind}`,
    hint: 'Letters, digits, underscore, dot, slash and dash.',
    privacy: 'public',
  })
}

/** The path of a file. It stands in error messages, so it cannot come from a placeholder. */
export function filePath(): Field<string> {
  return text({
    kind: 'path of a file',
    pattern: /^[^\0\r\n]{1,4096}$/,
    fault: 'is not a path',
    hint: null,
    privacy: 'public',
  })
}
