// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Pages for programs that call the admin address by whatever name: Prometheus and probes. */
export const openPages: ReadonlySet<string> = new Set([
  ...['/metrics', '/metrics/overall-health', '/livez', '/readyz'],
])

/** `router top` and `router explain` send it. No page can: browsers keep names that begin with Sec- to themselves. */
export const toolHeader = 'sec-router-client'

/** Names that public DNS does not have, so no web page can be loaded from one: `localhost`, a pod, a Service. */
const privateName = /^[^.]*$|\.(?:localhost|svc|local|internal)$/

/**
 * Whether a request may read what the router knows. A web page may point its own name at this address (DNS rebinding);
 * its browser then sends that name as the `Host`, and takes the answers for the page's own.
 *
 * @param names that are allowed beside those that no web page can have
 */
export function mayRead(
  { host = '', origin, [toolHeader]: tool }: FastifyRequest['headers'],
  names: readonly string[],
): boolean {
  const authority = host.toLowerCase()
  const name = authority.replace(/:\d*$/, '').replaceAll(/^\[|\]$|\.$/g, '')
  const isKnown = tool !== undefined || isIP(name) > 0 || privateName.test(name)
  if (!isKnown && !names.includes(name)) return false
  return origin === undefined || origin.replace(/^\w+:\/\//, '') === authority
}
