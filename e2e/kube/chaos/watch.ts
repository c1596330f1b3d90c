// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ServerResponse } from 'node:http'
import type { Dispatcher } from 'undici'
import type { WatchFault } from './faults.ts'

/**
 * Passes a watch on event by event, until it is time for the fault. `version` is where the watch began;
 * `calm` ends a silence.
 */
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
  let isOver = false
  let isStruck = false
  const strike = () => {
    if (isOver || isStruck || fault === null || calm.aborted) return
    isStruck = true
    if (fault.do === 'twice') return void (events > 0 && response.write(`${last}\n`))
    isOver = true
    disturb(response, { ...fault, do: fault.do }, last, version, calm)
  }
  let events = 0
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

function disturb(
  response: ServerResponse,
  fault: WatchFault & { readonly do: Exclude<WatchFault['do'], 'twice'> },
  last: string,
  version: string,
  calm: AbortSignal,
): void {
  const error = (code: number, reason: string) => {
    const object = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason }
    response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
  }
  const half = last.slice(0, last.length / 2)
  const cut = () => {
    response.destroy()
  }
  switch (fault.do) {
    case 'cut':
      return cut()
    case 'end':
      return void response.end()
    case 'expired':
      return error(410, 'Expired')
    case 'failed':
      return error(500, 'InternalError')
    case 'stale-bookmark': {
      const object = { kind: 'Stale', apiVersion: 'v1', metadata: { resourceVersion: version } }
      return void response.write(`${JSON.stringify({ type: 'BOOKMARK', object })}\n`, cut)
    }
    case 'broken-line':
      return void response.write(`${half}\n`)
    case 'half-line':
      return void response.end(half)
    case 'silence':
      calm.addEventListener('abort', cut, { once: true })
  }
}
