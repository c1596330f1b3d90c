// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { problemAt, quote, whyUnwritable } from '../config/problem.ts'
import { parseByteSize } from '../config/units.ts'
import { createRecorder, type RecorderOptions } from '../telemetry/record/recording.ts'
import type { CommandLine } from './command-line.ts'

/** Starts the recording that the flags request, or returns a problem; null without such flags. */
export function startRecording(
  flags: CommandLine['own'],
  options: Pick<RecorderOptions, 'clock' | 'logger'>,
) {
  const { record: [path] = [], 'record-bytes': [size = '256MiB'] = [] } = flags
  if (path === undefined) return null
  const maxBytes = parseByteSize(size)
  if (maxBytes === null)
    return problemAt('--record-bytes', null, `${quote(size)} is not a size`, 'Write 256MiB.')
  try {
    const withParams = flags['record-without-params'] === undefined
    return createRecorder({ path, maxBytes, withParams, ...options })
  } catch (error) {
    return problemAt('--record', null, `${quote(path)} cannot be written: ${whyUnwritable(error)}`)
  }
}
