// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'

interface Watching {
  readonly response: ServerResponse
  readonly last: string
  /** The version at which the watch started. */
  readonly version: string
  /** Aborts a silence. */
  readonly calm: AbortSignal
}

function sendError({ response }: Watching, code: number, reason: string): void {
  const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason }
  response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
}

const halfOf = (text: string) => text.slice(0, text.length / 2)

/** Faults inside a watch. All except `twice` end its events. */
export const watchFaults = {
  cut: ({ response }: Watching) => void response.destroy(),
  /** The server ends the watch cleanly. */
  end: ({ response }: Watching) => void response.end(),
  expired: (watching: Watching) => sendError(watching, 410, 'Expired'),
  failed: (watching: Watching) => sendError(watching, 500, 'InternalError'),
  /** A bookmark for the version at which the watch started, and then a cut. */
  'stale-bookmark': ({ response, version }: Watching) => {
    const object = { kind: 'Stale', apiVersion: 'v1', metadata: { resourceVersion: version } }
    response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`, () => response.destroy())
  },
  /** Half of an event and a line end. */
  'broken-line': ({ response, last }: Watching) => void response.write(`${halfOf(last)}\n`),
  /** Half of an event and the end of the stream. */
  'half-line': ({ response, last }: Watching) => void response.end(halfOf(last)),
  /** The watch sends nothing more, but the connection remains open. */
  silence: ({ response, calm }: Watching) =>
    calm.addEventListener('abort', () => response.destroy(), { once: true }),
  /** The watch repeats the last event, and continues. */
  twice: ({ response, last }: Watching) => void response.write(`${last}\n`),
}

/** A fault after a number of events or a time, whichever is first. */
export interface WatchFault {
  readonly do: keyof typeof watchFaults
  readonly afterEvents: number
  readonly afterMs: number
}

/** Relays a watch event by event until the fault is due. */
export async function relayWatch(
  response: ServerResponse,
  answer: Dispatcher.ResponseData,
  fault: WatchFault | null,
  version: string,
  calm: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  let last = '{"type":"ADDED","object":{"kind":"ConfigMap"}}'
  let events = 0
  let isOver = false
  let isStruck = false
  const strike = () => {
    if (isOver || isStruck || fault === null || calm.aborted) return
    isStruck = true
    isOver = fault.do !== 'twice'
    if (isOver || events > 0) watchFaults[fault.do]({ response, last, version, calm })
  }
  const timer = fault && setTimeout(strike, fault.afterMs)
  let rest = ''
  try {
    for await (const piece of answer.body as AsyncIterable<Buffer>) {
      const lines = (rest + piece.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (isOver) continue
        last = line
        response.write(`${line}\n`)
        events += 1
        if (fault && events >= fault.afterEvents) strike()
      }
    }
    if (!isOver) response.end()
  } finally {
    if (timer) clearTimeout(timer)
    if (!isOver) response.destroy()
  }
}
