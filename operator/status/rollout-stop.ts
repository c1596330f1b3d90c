// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type FleetView, isDarkForLong, type ListenerView } from './fleet-view.ts'

/** Why a rollout must not go on. */
export interface RolloutStop {
  /** What pods of the newest revision cannot reach; null if they did not answer. */
  readonly problem: string | null
}

/**
 * Decides whether a rollout stops: a pod of the newest revision cannot reach a chain that an older
 * pod serves. A stopped rollout continues only once pods of the newest revision answer, and serve
 * what the older ones serve.
 * @param view last observation; undefined before the first
 * @param newest hash of the newest template; undefined while its ReplicaSet is unknown
 * @param isStopped whether it is stopped now
 */
export function rolloutStop(
  view: FleetView | undefined,
  newest: string | undefined,
  isStopped: boolean,
): RolloutStop | null {
  const unknown = isStopped ? { problem: null } : null
  if (view === undefined || newest === undefined) return unknown
  const [recent = [], older = []] = [true, false].map((isNew) =>
    view.pods.filter(({ template }) => (template === newest) === isNew),
  )
  const served = new Set(
    older.flatMap(({ listeners = [] }) =>
      listeners.filter(({ serving }) => serving > 0).map(nameOf),
    ),
  )
  const dark = recent.flatMap(({ pod, listeners = [] }) =>
    listeners
      .filter((each) => (isStopped ? each.serving === 0 : isDarkForLong(each)))
      .map((each) => ({ pod, name: nameOf(each), why: each.why })),
  )
  const worse = dark.find(({ name }) => served.has(name))
  if (worse !== undefined)
    return { problem: `Pod ${worse.pod} cannot reach ${worse.name}: ${worse.why ?? 'no reason'}` }
  // Pods that do not answer may be older ones that serve what the newest ones cannot reach.
  const isKnown =
    view.silent.length > 0
      ? recent.length > 0 && dark.length === 0
      : recent.length > 0 || older.length === 0
  return isKnown ? null : unknown
}

function nameOf({ chain, interface: iface }: ListenerView): string {
  return `${chain} ${iface}`
}
