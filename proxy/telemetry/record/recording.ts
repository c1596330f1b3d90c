// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createWriteStream } from 'node:fs'
import * as z from 'zod'
import { recordLimits } from '../../bytes/limits.ts'
import type { MethodSpec } from '../../chain/types.ts'
import type { Clock } from '../../clock/clock.ts'
import { type ApiInterface, apiInterfaces, type RouterConfig } from '../../config/types.ts'
import type { ListenerObserver } from '../../listener/listener.ts'
import type { Call } from '../../relay/call.ts'
import { SecretMask } from '../../upstream/secrets/mask.ts'
import type { Body } from '../../upstream/wire.ts'
import { isFailure, outcomeOf } from '../call-counters.ts'
import type { LogFields, Logger } from '../log.ts'
import { perListener } from '../observers.ts'

const text = z.string()

/** A line of a recording. */
export const recordedCall = z.object({
  /** The version of this format. */
  recording: z.literal(1),
  at: text,
  chain: text,
  interface: z.enum(apiInterfaces),
  /** `other` if the spec lacks it. */
  method: text,
  /** As in the metrics. */
  outcome: text,
  /** The upstream that answered; null if none was tried. */
  upstream: text.nullable(),
  totalMs: z.number(),
  /** The request without headers, and the answer; or why the call is not recorded and replayed. */
  exchange: text.or(z.object({ verb: text, path: text, body: text.nullable(), answer: text })),
})
export type RecordedCall = z.infer<typeof recordedCall>

/** The text encoding of requests and answers, because gRPC bytes are not text. */
export function encodingOf(apiInterface: ApiInterface): BufferEncoding {
  return apiInterface === 'grpc' ? 'latin1' : 'utf8'
}

/** Whether a call may be replayed. */
export function isPlainRead({ known, kind, stateful, waitsForBlock }: MethodSpec): boolean {
  return known && kind === 'read' && stateful === null && !waitsForBlock
}

export interface RecorderOptions {
  readonly path: string
  /** The new file, opened to append. */
  readonly fd: number
  /** Maximum size of the file. */
  readonly maxBytes: number
  readonly withParams: boolean
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

/** Records calls with their answers to a file. A failure ends the recording but affects no call. */
export type Recorder = ReturnType<typeof createRecorder>

export function createRecorder({ path, fd, maxBytes, withParams, clock, logger }: RecorderOptions) {
  const file = createWriteStream('', { fd })
  let masks: readonly SecretMask[] = []
  let skipped = 0
  const log = (what: string, fields: LogFields = {}) =>
    logger.warn(`recording: ${what}`, { file: path, skipped, ...fields })
  file.once('error', (error) => log('ended: the file cannot be written', { error }))
  return {
    /** Masks the keys of this config, and those of the previous one for calls in flight. */
    maskKeysOf({ upstreams }: RouterConfig): void {
      const mask = new SecretMask(...upstreams.flatMap(({ nodeUrls }) => nodeUrls))
      masks = [mask, ...masks.slice(0, 1)]
    },
    listenerObserver: perListener<Pick<ListenerObserver, 'callEnded'>>((listener) => ({
      callEnded(call, end, totalMs) {
        if (!file.writable) return
        if (file.writableLength > recordLimits.queuedBytes) {
          skipped += 1
          if (skipped === 1) log('the disk is slower than the traffic: calls are skipped')
          return
        }
        const reply = end.kind === 'reply' ? end.reply : null
        const outcome = outcomeOf(call, end)
        const exchange = withParams
          ? exchangeOf(call, outcome, reply?.incoming.body, encodingOf(listener.interface))
          : 'recorded without params'
        const recorded: RecordedCall = {
          recording: 1,
          at: new Date(clock.wallMs() - totalMs).toISOString(),
          ...listener,
          method: call.method.known ? call.method.name : 'other',
          outcome,
          upstream: call.journal.attempts.length > 0 ? (reply?.upstream ?? null) : null,
          totalMs: Math.round(totalMs * 100) / 100,
          exchange,
        }
        const line: Uint8Array = Buffer.from(`${JSON.stringify(recorded)}\n`)
        const masked = masks.reduce((bytes, mask) => mask.bytes(bytes), line)
        if (file.bytesWritten + file.writableLength + masked.length <= maxBytes)
          return void file.write(masked)
        log('ended: the file has reached its size limit')
        file.end()
      },
    })),
    /** Resolves when everything has been written to the file. */
    async close(): Promise<void> {
      if (skipped > 0) log('ended')
      file.end()
      if (!file.closed) await new Promise((resolve) => file.once('close', resolve))
    },
  }
}

function exchangeOf(
  { method, request }: Call,
  outcome: string,
  answer: Body | undefined,
  encoding: BufferEncoding,
): RecordedCall['exchange'] {
  if (!isPlainRead(method)) return 'no plain read'
  if (isFailure(outcome)) return `had no answer: ${outcome}`
  const { verb, path, body } = request
  if (!isShort(answer) || (body !== null && !isShort(body))) return 'over 1 MiB, or a stream'
  const read = (bytes: Uint8Array) => Buffer.from(bytes).toString(encoding)
  return { verb, path, body: body && read(body), answer: read(answer) }
}

function isShort(body: Body | undefined): body is Uint8Array {
  return body instanceof Uint8Array && body.length <= recordLimits.bodyBytes
}
