// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Finding, ReplyReader } from '../../proxy/relay/reply.ts'
import type { Incoming } from '../../proxy/upstream/wire.ts'

export function replyReader(_body: Uint8Array, _id: string): ReplyReader {
  return { read }
}

function read({ status, body }: Incoming): Finding {
  try {
    const document = JSON.parse(Buffer.from(body as Uint8Array).toString()) as {
      error?: { code: number; message: string }
      result?: unknown
    }
    if (document.error) return { kind: 'node-error', error: { status, ...document.error } }
    if ('result' in document) return { kind: 'result' }
  } catch {
    return { kind: 'malformed', why: 'not JSON' }
  }
  return { kind: 'malformed', why: 'neither result nor error' }
}
