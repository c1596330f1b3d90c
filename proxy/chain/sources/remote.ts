// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { fileProblem } from '../spec-error.ts'
import type { SourceFiles } from './spec-file.ts'

export async function readArchive(source: string, signal: AbortSignal): Promise<SourceFiles> {
  return {
    kind: 'archive',
    files: [],
    problems: [
      fileProblem(
        source,
        signal.aborted ? 'was given up.' : 'is an archive, which is not read yet.',
      ),
    ],
  }
}
