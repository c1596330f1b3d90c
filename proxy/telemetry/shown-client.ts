// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Call, Client } from '../relay/call.ts'
import { clean } from './format.ts'

const maxText = 200
/** Segments such as `/v2`, `/eth` and `/v1beta1`. Keys are longer, or have digits elsewhere. */
const plainSegments = /^(?:\/(?:[a-z]{1,9}|v\d{1,2}(?:(?:alpha|beta)\d)?)(?=\/|$))*/i

/** Copies the beginning of a text. A slice would retain all of it, perhaps a whole request. */
export function copied(text: string, most: number): string {
  return Buffer.from(text.slice(0, most)).toString()
}

/** Bounds a text that a client chose. */
export function boundedAgent(userAgent: string | null): string | null {
  return userAgent && userAgent.length > maxText ? copied(userAgent, maxText) : userAgent
}

/** What is retained of a client: bounded, and without keys and parameters of its path. */
export function boundedClient({ address, userAgent, path }: Client, call?: Call): Client {
  // The method of the spec already names the path.
  const isNamed = call?.method.known === true && call.method.name.includes('/')
  return {
    address,
    userAgent: boundedAgent(userAgent),
    path: isNamed ? '' : maskedPath(path),
  }
}

/** Replaces everything from the first segment that may be a key or a parameter. */
function maskedPath(path: string): string {
  if (path === '/' || path === '') return path
  const [plain] = plainSegments.exec(path) as unknown as [string]
  return copied(plain, maxText) + (plain.length === path.length ? '' : '/*')
}

/** Fields of a line of the log. */
export function clientFields(client: Client | null | undefined, call?: Call) {
  if (!client) return {}
  const { address, userAgent, path } = boundedClient(client, call)
  return {
    client: address,
    path: path === '' ? undefined : clean(path),
    userAgent: userAgent === null ? undefined : clean(userAgent),
  }
}
