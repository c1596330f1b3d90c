// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { open } from 'node:fs/promises'
import * as z from 'zod'
import type { Classification } from '../../chain/types.ts'
import { whyUnreadable } from '../../config/problem.ts'
import { apiInterfaces } from '../../config/types.ts'

/* A recording is JSON Lines: a head with the version of its form, then a call on each line. */

export const recordingVersion = 1
const head = z.object({ recording: z.literal(recordingVersion) })

/** Without keys. Of a body over 1 MiB its length alone; null: it streamed. Undefined is what cannot be read back. */
const body = z
  .union([
    z.object({ text: z.string() }),
    z.object({ base64: z.string() }),
    z.object({ bytes: z.number().nullable() }),
  ])
  .transform((given) => {
    if ('text' in given) return Buffer.from(given.text)
    return 'base64' in given ? Buffer.from(given.base64, 'base64') : undefined
  })
  .nullable()

const recordedCall = z.object({
  at: z.string(),
  chain: z.string(),
  interface: z.enum(apiInterfaces),
  /** `other` where the spec does not name it. */
  method: z.string(),
  /** As in the metrics. */
  outcome: z.string(),
  /** The class of an error that is the node's own answer, such as a revert. */
  refusal: z.string().nullable(),
  /** Whose answer it was; null where no upstream was asked for it. */
  upstream: z.string().nullable(),
  totalMs: z.number(),
  /** Why it is not sent again; null: it may be. */
  leftOut: z.string().nullable(),
  /** As upstreams get it, without headers. Null, as is the answer: recorded without params, or not for being sent again. */
  request: z.object({ verb: z.string(), path: z.string(), body }).nullable(),
  answer: body,
})
export type RecordedCall = z.input<typeof recordedCall>
export type RecordedBody = z.input<typeof body>

/** A call as it is read back, with its line. */
export interface ReadCall extends z.output<typeof recordedCall> {
  readonly line: number
}

/** Nothing is sent again but what the spec calls a plain read. @returns why a call is not; null: it is */
export function whyNot({ known, kind, stateful, waitsForBlock }: Classification): string | null {
  if (!known) return 'the spec does not name it: it may be a write'
  if (kind === 'write') return 'a write'
  if (kind === 'subscribe') return 'a subscription'
  if (kind === 'local' || stateful !== null) return 'of the state of one node'
  return waitsForBlock ? 'waits for a block' : null
}

/** What is wrong with a recording, and in which line. */
export class BadRecording extends Error {
  override readonly name = 'BadRecording'
  readonly line: number | null

  constructor(message: string, line: number | null = null) {
    super(message)
    this.line = line
  }
}

/** The calls of a recording. Its last line may be cut. @throws BadRecording */
export async function* readRecording(path: string): AsyncGenerator<ReadCall> {
  await using file = await open(path).catch((error: unknown) => {
    throw new BadRecording(whyUnreadable(error))
  })
  if (!(await file.stat()).isFile()) throw new BadRecording('it is not a regular file')
  const notJson = (line: number) => new BadRecording('this is no line of a recording', line)
  let line = 0
  let cut = 0
  for await (const text of file.readLines({ autoClose: false })) {
    if (cut > 0) throw notJson(cut)
    line += 1
    const value = parsed(text)
    if (value === undefined) cut = line
    else if (line > 1) yield { ...callIn(value, line), line }
    else if (!head.safeParse(value).success)
      throw new BadRecording(`recording: not ${recordingVersion}, which this router reads`, 1)
  }
  if (line === 0 || cut === 1) throw notJson(1)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function callIn(value: unknown, line: number) {
  const { data, error } = recordedCall.safeParse(value)
  if (data) return data
  const field = error.issues[0]?.path.join('.') || 'at'
  throw new BadRecording(`${field}: missing, or not what a recording has there`, line)
}
