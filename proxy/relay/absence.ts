// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { Pool } from '../upstream/pool.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

/**
 * One that lags says that there is nothing of such a hash: it may be newer than its head. Kept for
 * when nobody else answers. It was asked only in the hope of what is older, so it takes no retry away.
 */
class UnprovenAbsence extends AttemptFailed {
  override get costsRetry(): boolean {
    return false
  }
}

/** Null, or an error of its own, from an upstream that lags is no answer about a hash while one that does not lag may be asked. */
export function absence(pool: Pool, failures: FailureTable): Step {
  return (next) => async (call) => {
    const reply = await next(call)
    // In this order: most answers are of nobody who lags, and need not be read again.
    if (!mayBeElsewhere(reply, call, pool) || !isAbsence(reply, call)) return reply
    throw new UnprovenAbsence(failures.ofAnswer('missing-block'), reply, null)
  }
}

function isAbsence({ refusal, incoming }: Reply, { reader }: Call): boolean {
  if (!(incoming.body instanceof Uint8Array)) return false
  if (refusal !== null) return true
  const finding = reader.read(incoming)
  // 0x6e: the `n` of null.
  return finding.kind === 'result' && !!finding.value && incoming.body[finding.value.start] === 0x6e
}

/** Whom the client named has the word; and what changes something is not asked twice. */
function mayBeElsewhere({ upstream }: Reply, call: Call, pool: Pool): boolean {
  if (call.asked.kind !== 'read' || call.directives.selectProvider === upstream) return false
  return pool.mayLack(upstream, wantedBy(call))
}
