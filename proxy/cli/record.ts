// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { openSync } from 'node:fs'
import { type Problem, problemAt, quote, whyUnwritable } from '../config/problem.ts'
import { parseByteSize } from '../config/units.ts'
import type { RecorderOptions } from '../telemetry/record/recording.ts'
import type { CommandLine } from './command-line.ts'

/**
 * Opens the recording that the flags request, readable only by its owner.
 * @param worker how this process began as a worker, whose supervisor has opened the file
 * @returns a problem if it cannot be written; null without such flags
 */
export function openRecording(
  flags: CommandLine['own'],
  worker: { readonly recording: number | null; readonly count: number } | null,
): Pick<RecorderOptions, 'path' | 'fd' | 'maxBytes' | 'withParams'> | Problem | null {
  const { record: [path] = [], 'record-bytes': [size = '256MiB'] = [] } = flags
  if (path === undefined) return null
  const maxBytes = parseByteSize(size)
  if (maxBytes === null)
    return problemAt('--record-bytes', null, `${quote(size)} is not a size`, 'Write 256MiB.')
  try {
    const withParams = flags['record-without-params'] === undefined
    // Workers append whole lines to one file.
    const fd = worker?.recording ?? openSync(path, 'ax', 0o600)
    return { path, fd, maxBytes: maxBytes / (worker?.count ?? 1), withParams }
  } catch (error) {
    return problemAt('--record', null, `${quote(path)} cannot be written: ${whyUnwritable(error)}`)
  }
}
