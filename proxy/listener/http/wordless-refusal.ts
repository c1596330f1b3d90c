// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Finding } from '../../relay/reply.ts'

/**
 * What an error status without words of the node says, where path and verb are the client's own: one
 * about the request (a path that the node does not serve, a verb that it does not know) is its
 * answer. Null for the trouble of whoever answered.
 */
export function wordlessRefusal(status: number): Finding | null {
  const isAboutRequest = (status >= 400 && status < 500) || status === 501
  return isAboutRequest ? wordless(status) : null
}

/** An error of which only the status is known. */
export function wordless(status: number): Finding {
  return { kind: 'node-error', error: { status, code: null, message: '' } }
}
