// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { dirname } from 'node:path'
import { type Problem, problemAt, quote, whyUnreadable } from '../config/problem.ts'
import { parseByteSize } from '../config/units.ts'
import { Recorder, type RecorderOptions } from '../telemetry/record/recorder.ts'
import type { CommandLine } from './command-line.ts'

/** Begins the recording that the flags ask for; null: they ask for none. */
export function startRecording(
  given: CommandLine['own'],
  parts: Pick<RecorderOptions, 'version' | 'clock' | 'logger'>,
): Recorder | Problem | null {
  const { record: [path] = [], 'record-bytes': [size = '256MiB'] = [] } = given
  if (path === undefined) {
    const lost = (['record-bytes', 'record-without-params'] as const).find((name) => given[name])
    const why = 'there is no recording without --record'
    return lost ? problemAt(`--${lost}`, null, why, 'Write --record FILE too.') : null
  }
  const maxBytes = parseByteSize(size)
  if (maxBytes === null)
    return problemAt('--record-bytes', null, `${quote(size)} is not a size`, 'Write 256MiB.')
  try {
    const withParams = given['record-without-params'] === undefined
    return new Recorder({ path, maxBytes, withParams, ...parts })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const exists = code === 'EEXIST'
    const noFolder = code === 'ENOENT' && `there is no folder ${quote(dirname(path))}`
    const why = exists ? 'it exists already' : noFolder || whyUnreadable(error)
    const hint = exists ? 'Name another one, or move it away.' : null
    return problemAt('--record', null, `${quote(path)} cannot be written: ${why}`, hint)
  }
}
