// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { open } from 'node:fs/promises'
import { apiInterfaces } from '../../config/fields/fields.ts'
import { whyUnreadable } from '../../config/problem.ts'
import { parseJson } from '../../json/scanner.ts'
import {
  type RecordedBody,
  type RecordedCall,
  recordingVersion,
} from '../../telemetry/record/recording.ts'

/** What is wrong with a recording, and in which line. */
export class BadRecording extends Error {
  override readonly name = 'BadRecording'
  readonly line: number | null

  constructor(message: string, line: number | null = null) {
    super(message)
    this.line = line
  }
}

/** Its calls, each with its line. The last line may be cut. @throws BadRecording */
export async function* readRecording(path: string): AsyncGenerator<[number, RecordedCall]> {
  await using file = await open(path).catch((error: unknown) => {
    throw new BadRecording(whyUnreadable(error))
  })
  if (!(await file.stat()).isFile()) throw new BadRecording('it is not a regular file')
  const notJson = (at: number) => new BadRecording('this is no line of a recording', at)
  let line = 0
  let cut = 0
  for await (const text of file.readLines({ autoClose: false })) {
    if (cut > 0) throw notJson(cut)
    line += 1
    const value = parseJson(Buffer.from(text))
    if (value === undefined) cut = line
    else if (line > 1) yield [line, callIn(value, line)]
    else if (membersOf(value)['recording'] !== recordingVersion)
      throw new BadRecording(`recording: not ${recordingVersion}, which this router reads`, 1)
  }
  if (line === 0 || cut === 1) throw notJson(1)
}

/** Null where the bytes are not in the recording. */
export function bytesOf(body: RecordedBody): Uint8Array | null {
  if ('text' in body) return Buffer.from(body.text)
  return 'base64' in body ? Buffer.from(body.base64, 'base64') : null
}

type Members = Readonly<Record<string, unknown>>
type Test = (value: unknown) => boolean

const isText: Test = (value) => typeof value === 'string'
const orNull =
  (is: Test): Test =>
  (value) =>
    value === null || is(value)
const isBody: Test = (value) => {
  const { text, base64, bytes } = membersOf(value)
  return isText(text) || isText(base64) || bytes === null || typeof bytes === 'number'
}
const isRequest: Test = (value) => {
  const { verb, path, body } = membersOf(value)
  return isText(verb) && isText(path) && orNull(isBody)(body)
}
const tests: Readonly<Record<keyof RecordedCall, Test>> = {
  ...{ at: isText, chain: isText, method: isText, outcome: isText, refusal: orNull(isText) },
  interface: (value) => apiInterfaces.some((each) => each === value),
  ...{
    upstream: orNull(isText),
    totalMs: Number.isFinite,
    leftOut: orNull(isText),
    request: orNull(isRequest),
  },
  answer: orNull(isBody),
}

function membersOf(value: unknown): Members {
  return Object(value) as Members
}

function callIn(value: unknown, line: number): RecordedCall {
  const wrong = Object.entries(tests).find(([name, is]) => !is(membersOf(value)[name]))
  if (wrong) throw new BadRecording(`${wrong[0]}: missing, or not what a recording has there`, line)
  return value as RecordedCall
}
