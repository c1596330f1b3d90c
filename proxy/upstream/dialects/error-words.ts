// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const internalError = -32603

/**
 * What a JSON-RPC error says. Nodes of the Cosmos family call all of their errors `Internal error`,
 * and tell in `data` which it is.
 */
export function errorWords(code: number, message: string, data: unknown): string {
  const isTold = code === internalError && typeof data === 'string' && data !== ''
  return isTold ? `${message}: ${data}` : message
}
