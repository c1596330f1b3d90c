// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { sleep, systemClock, systemRandom } from '../../operator/kube/clock.ts'
import { LeaderElector, LeaseLostError } from '../../operator/kube/leader-elector.ts'
import { configMaps } from '../../operator/resources/kinds.ts'
import { clientOf, type Access } from './access.ts'

/*
 * A process for the tests of leader election: while it leads, it writes its name into a ConfigMap as
 * fast as it can. SIGTERM ends it in order; after a lost lease its exit code is 3.
 *
 * elector-process.ts CLUSTER.json NAMESPACE IDENTITY
 */

/** Between two writes. */
const restMs = 50

const [file = '', namespace = '', identity = ''] = process.argv.slice(2)
const client = clientOf(JSON.parse(readFileSync(file, 'utf8')) as Access)
const stop = new AbortController()
process.once('SIGTERM', () => {
  stop.abort()
})
const elector = new LeaderElector({
  client,
  lease: { namespace, name: 'lead' },
  identity,
  clock: systemClock,
  random: systemRandom,
  leaseMs: 2_000,
  renewDeadlineMs: 1_500,
  retryMs: 200,
})
// Nothing else keeps the process alive between two attempts.
const alive = setInterval(() => {}, 1_000)

async function lead(signal: AbortSignal): Promise<void> {
  const ref = { namespace, name: 'writer' }
  for (let count = 1; !signal.aborted; count++) {
    const data = { writer: identity, count: String(count) }
    await client.mergePatch(configMaps, ref, { data }, signal).catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
    await sleep(systemClock, restMs, signal).catch(() => {})
  }
}

try {
  await elector.run(stop.signal, lead)
} catch (error) {
  if (!(error instanceof LeaseLostError)) throw error
  process.exitCode = 3
}
clearInterval(alive)
await client.close()
