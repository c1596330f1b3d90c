// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isUtf8 } from 'node:buffer'
import { createWriteStream, openSync, type WriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { recordLimits } from '../../bytes/limits.ts'
import { type Clock, sleep } from '../../clock/clock.ts'
import type { RouterConfig } from '../../config/types.ts'
import { SecretMask } from '../../upstream/secrets/mask.ts'
import type { Body } from '../../upstream/wire.ts'
import { outcomeOf } from '../call-counters.ts'
import type { LogFields, Logger } from '../log.ts'
import { perListener, type PartialObservers } from '../observers.ts'
import { type RecordedBody, type RecordedCall, recordingVersion, whyNot } from './recording.ts'

export interface RecorderOptions {
  readonly path: string
  /** The file gets no longer. */
  readonly maxBytes: number
  readonly withParams: boolean
  readonly version: string
  readonly clock: Clock
  readonly logger: Pick<Logger, 'warn'>
}

/** Writes calls with their answers to a file, beside the traffic: whatever is wrong with it ends the recording, and no call. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #file: WriteStream
  #urls: RouterConfig['upstreams'][number]['nodeUrls'] = []
  #mask = new SecretMask()
  #leftOut = 0

  /** Creates the file, for its owner alone. @throws Error of the system, `EEXIST` where there is one already */
  constructor(options: RecorderOptions, fd = openSync(options.path, 'wx', 0o600)) {
    this.#options = options
    this.#file = createWriteStream('', { fd })
    this.#file.once('error', (error) => this.#log('ended: the file cannot be written', { error }))
    const startedAt = new Date(options.clock.wallMs()).toISOString()
    this.#write({ recording: recordingVersion, router: options.version, startedAt })
  }

  /** Masks the keys of this config from now on, and those of the one before, which calls in flight have. */
  maskKeysOf({ upstreams }: RouterConfig): void {
    const urls = upstreams.flatMap(({ nodeUrls }) => nodeUrls)
    this.#mask = new SecretMask(...urls, ...this.#urls)
    this.#urls = urls
  }

  readonly listenerObserver = perListener((listener) => ({
    callEnded: ((call, end, totalMs) => {
      if (!this.#file.writable) return
      if (this.#file.writableLength > recordLimits.queuedBytes) {
        this.#leftOut += 1
        if (this.#leftOut === 1)
          this.#log('the disk is slower than the traffic: calls are left out')
        return
      }
      const { asked, journal, request } = call
      const leftOut = whyNot(asked)
      const withParams = this.#options.withParams && leftOut === null
      const reply = end.kind === 'reply' ? end.reply : null
      const path = () => Buffer.from(this.#mask.bytes(Buffer.from(request.path))).toString()
      this.#write({
        at: new Date(this.#options.clock.wallMs() - totalMs).toISOString(),
        ...listener,
        method: asked.known ? asked.method : 'other',
        outcome: outcomeOf(call, end),
        refusal: reply?.refusal?.name ?? null,
        upstream: journal.attempts.length > 0 ? (reply?.upstream ?? null) : null,
        totalMs: Math.round(totalMs * 100) / 100,
        leftOut,
        request: withParams
          ? { verb: request.verb, path: path(), body: this.#bodyOf(request.body) }
          : null,
        answer: withParams && reply ? this.#bodyOf(reply.incoming.body) : null,
      } satisfies RecordedCall)
    }) satisfies ReturnType<PartialObservers['listenerObserver']>['callEnded'],
  }))

  /** Takes the file away again, where there was nothing to record. */
  async discard(): Promise<void> {
    this.#file.destroy()
    await rm(this.#options.path, { force: true })
  }

  /** Resolves when all of it is in the file, or after 2 s where the disk hangs. */
  async close(): Promise<void> {
    const { closeMs } = recordLimits
    if (this.#leftOut > 0) this.#log('ended')
    this.#file.end()
    if (this.#file.closed) return
    const closed = new Promise((resolve) => this.#file.once('close', resolve))
    await Promise.race([closed, sleep(this.#options.clock, closeMs)])
    if (!this.#file.closed) this.#log('ended: the disk hangs, and the last calls are lost')
  }

  #write(line: object): void {
    const bytes = Buffer.from(`${JSON.stringify(line)}\n`)
    const { bytesWritten, writableLength } = this.#file
    if (bytesWritten + writableLength + bytes.length <= this.#options.maxBytes)
      return void this.#file.write(bytes)
    this.#log('ended: it has the size that it may have')
    this.#file.end()
  }

  #log(what: string, fields: LogFields = {}): void {
    const { path: file, logger } = this.#options
    logger.warn(`recording: ${what}`, { file, leftOut: this.#leftOut, ...fields })
  }

  #bodyOf(body: Body | null): RecordedBody {
    if (body === null) return null
    if (!(body instanceof Uint8Array)) return { bytes: null }
    if (body.length > recordLimits.bodyBytes) return { bytes: body.length }
    const bytes = Buffer.from(this.#mask.bytes(body))
    return isUtf8(bytes) ? { text: bytes.toString() } : { base64: bytes.toString('base64') }
  }
}
