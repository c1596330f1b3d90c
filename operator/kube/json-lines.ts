// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { MalformedAnswerError } from './errors.ts'

/** More than the largest object that etcd takes, in any encoding. */
const mostLineBytes = 16 * 1024 * 1024

/**
 * The JSON values of a stream with one a line. What stands behind the last line end when the
 * stream ends is a line that was cut: it is dropped.
 * @throws MalformedAnswerError for a line that is no JSON or has no end
 */
export async function* readJsonLines(
  what: string,
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator {
  let parts: Uint8Array[] = []
  let waiting = 0
  for await (const chunk of body) {
    let from = 0
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const line = Buffer.concat([...parts, chunk.subarray(from, end)])
      parts = []
      waiting = 0
      from = end + 1
      if (line.length > 0) yield parse(what, line)
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    waiting += chunk.length - from
    if (waiting > mostLineBytes)
      throw new MalformedAnswerError(`${what}: one event is longer than ${mostLineBytes} bytes`)
  }
}

function parse(what: string, line: Buffer): unknown {
  try {
    return JSON.parse(line.toString())
  } catch (cause) {
    throw new MalformedAnswerError(`${what}: an event is no JSON`, { cause })
  }
}
