// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FailureTable } from '../chain/failure-table.ts'
import type { Pool } from '../upstream/pool.ts'
import { AttemptFailed } from './attempt-failed.ts'
import type { Call } from './call.ts'
import { wantedBy } from './needs.ts'
import type { Reply } from './reply.ts'
import type { Step } from './step.ts'

/** An answer about the newest state that is of another height. It is true of its node, and blames nobody. */
class OffTip extends AttemptFailed {
  readonly #blocksOff: number

  constructor(failures: FailureTable, reply: Reply, blocksOff: number) {
    super(failures.ofAnswer('off-tip'), reply, null)
    this.#blocksOff = blocksOff
  }

  override get blocksOff(): number {
    return this.#blocksOff
  }
}

/**
 * What is told of the newest state and is off the corroborated tip is not the answer while one that
 * is at the tip may be asked. Of several the nearest is, when all are off.
 */
export function nearTip(pool: Pool, failures: FailureTable): Step {
  return (next) => async (call) => {
    const reply = await next(call)
    const blocksOff = blocksOffOf(reply, call)
    if (blocksOff === 0 || call.asked.kind !== 'read') return reply
    const isFirst = call.journal.attempts.filter((each) => each.blocksOff > 0).length === 1
    if (isFirst && !pool.mayBeNearer(reply.upstream, wantedBy(call))) return reply
    throw new OffTip(failures, reply, blocksOff)
  }
}

function blocksOffOf({ upstream }: Reply, { journal }: Call): number {
  const own = journal.attempts.findLast(
    (each) => each.upstream === upstream && each.result !== null,
  )
  return own?.blocksOff ?? 0
}
