// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
const timeoutMs = 10_000

/** Sends one call. Rejects on a transport failure or a JSON-RPC error. */
export async function askRpc<T>(
  url: string,
  method: string,
  params: readonly unknown[] = [],
  headers: Readonly<Record<string, string>> = {},
): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    signal: AbortSignal.timeout(timeoutMs),
  })
  const reply = (await response.json()) as { result: T; error?: { message: string } }
  if (reply.error) throw new Error(`${method}: ${reply.error.message}`)
  return reply.result
}
