// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeCall } from '../chain/types.ts'
import { ask, type AskOptions, type ProbeAnswer } from './ask.ts'
import type { NodeUrl } from './node-url.ts'

/**
 * Asks a URL at each path under which a node may serve the question, until one of them answers it.
 * The URL remembers which one that was, and it is asked there first from then on.
 * @returns when none answers it, what came of the path that was asked first
 */
export async function askWhereServed(
  url: NodeUrl,
  call: ProbeCall,
  options: AskOptions,
): Promise<ProbeAnswer> {
  const { path, otherPaths = [] } = call
  const askAt = async (at: string) => {
    const answer = await ask(url, { ...call, path: at }, options)
    if (answer.kind === 'value') url.servedPaths.set(path, at)
    return answer
  }
  const likeliest = url.servedPaths.get(path) ?? path
  const first = await askAt(likeliest)
  if (!mayBeElsewhere(first)) return first
  for (const at of [path, ...otherPaths]) {
    if (at === likeliest) continue
    const answer = await askAt(at)
    if (!mayBeElsewhere(answer)) return answer
  }
  return first
}

/** A node answered, but does not know the question, or not at this path. */
function mayBeElsewhere(answer: ProbeAnswer): boolean {
  return answer.kind === 'refused' || (answer.kind === 'failed' && answer.answered === true)
}
