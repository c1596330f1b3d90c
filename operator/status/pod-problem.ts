// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Pod } from '../resources/kinds.ts'

/** Of a message: the end of a log says why a process ended. */
const mostCharacters = 512

/**
 * Why the newest of the pods that are not ready is not: the reasons that Kubernetes gives, and the end of the log of a
 * container that ended. Null when all are ready, or there is none.
 */
export function podProblem(pods: readonly Pod[]): string | null {
  const [newest] = pods
    .filter(
      (pod) => !pod.metadata.deletionTimestamp && conditionOf(pod, 'Ready')?.status !== 'True',
    )
    .toSorted((a, b) => (createdAt(a) < createdAt(b) ? 1 : -1))
  if (newest === undefined) return null
  return `Pod ${newest.metadata.name}: ${problemOf(newest)}`
}

function problemOf(pod: Pod): string {
  const scheduled = conditionOf(pod, 'PodScheduled')
  if (scheduled?.status === 'False') return textOf(scheduled.reason, scheduled.message)
  for (const { state, lastState } of pod.status?.containerStatuses ?? []) {
    const ended = state?.terminated ?? lastState?.terminated
    const how =
      ended && textOf(`its container ended with exit code ${ended.exitCode}`, ended.message)
    const { waiting } = state ?? {}
    if (how) return waiting?.reason ? `${waiting.reason}, ${how}` : how
    if (waiting) return textOf(waiting.reason, waiting.message)
  }
  return 'it runs and is not ready'
}

function textOf(reason = 'it does not say why', message = ''): string {
  const words = message.replaceAll(/\s+/g, ' ').trim()
  const end = words.length <= mostCharacters ? words : `…${words.slice(1 - mostCharacters)}`
  return end === '' ? reason : `${reason}: ${end}`
}

function conditionOf({ status }: Pod, type: string) {
  return status?.conditions?.find((condition) => condition.type === type)
}

function createdAt({ metadata }: Pod): string {
  return metadata.creationTimestamp ?? ''
}
