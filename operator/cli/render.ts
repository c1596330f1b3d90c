// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CommandIo } from './command-io.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { writeObjects } from './documents.ts'
import { exitCodes } from './exit-codes.ts'
import { judgeManifests } from './judged-manifests.ts'

/**
 * Prints what the operator would apply for the manifests, and on stderr what keeps it from more.
 * @returns the exit code: 2 when there is anything wrong
 */
export async function runRender(
  values: FlagValues,
  version: string,
  io: CommandIo,
): Promise<number> {
  const { rendered, problems } = await judgeManifests(values, version, io.stdin)
  io.stdout.write(writeObjects(rendered.objects, valueOf(values, 'output')))
  for (const problem of problems) io.stderr.write(`rpc-operator: error: ${problem}\n`)
  return problems.length === 0 ? exitCodes.done : exitCodes.invalid
}
