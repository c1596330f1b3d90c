// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CommandIo } from './command-io.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { exitCodes } from './exit-codes.ts'
import { judgeManifests } from './judged-manifests.ts'

/** What a file alone does not tell. */
const more =
  'They were judged as new objects. What must not change, and the policies of a cluster, kubectl apply --dry-run=server -f FILES judges.'

/**
 * Judges manifests: as text on stderr, with a word of success on stdout, or as one JSON document on stdout.
 * @returns the exit code: 0, or 2 when there is an error
 */
export async function runValidate(
  values: FlagValues,
  version: string,
  io: CommandIo,
): Promise<number> {
  const { set, problems } = await judgeManifests(values, version, io.stdin)
  const valid = problems.length === 0
  if (valueOf(values, 'output') === 'json') {
    io.stdout.write(`${JSON.stringify({ version: 1, valid, problems }, null, 2)}\n`)
  } else {
    for (const problem of problems) io.stderr.write(`rpc-operator: error: ${problem}\n`)
    const counts = `${set?.routers.length ?? 0} RpcRouters, ${set?.providers.length ?? 0} UpstreamProviders`
    if (valid) io.stdout.write(`The operator would accept the manifests: ${counts}.\n${more}\n`)
  }
  return valid ? exitCodes.done : exitCodes.invalid
}
