// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** Paths for Prometheus and probes, which are available under any host name. */
export const openPages: ReadonlySet<string> = new Set([
  ...['/metrics', '/metrics/overall-health', '/livez', '/readyz'],
])

/** `router top` and `router explain` send it. Pages cannot: browsers reserve `Sec-` names. */
export const toolHeader = 'sec-router-client'

/** Names that public DNS cannot contain, and so no web page: `localhost`, a pod, a Service. */
const privateName = /^[^.]*$|\.(?:localhost|svc|local|internal)$/

/**
 * Whether a request may read the admin pages. A web page may point its own name at this address
 * (DNS rebinding). The browser then sends that name as `Host`, and lets the page read the answers.
 * @param names allowed in addition to names that no web page can have
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
