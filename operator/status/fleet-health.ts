// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { RpcRouterStatus } from '../api/status.ts'
import type { FleetView } from './fleet-view.ts'
import type { Observations } from './provider-health.ts'
import type { LostStore } from './rollout.ts'

/*
 * Listeners and stores as the pods of a router see them. As with the health of providers, a change
 * counts once two observations agree.
 */

/** The fields of `status.listeners[]` that pods determine; unset while unknown. */
export type ListenerHealth = Pick<
  NonNullable<RpcRouterStatus['listeners']>[number],
  'serving' | 'message'
>

/**
 * Returns the health of a listener, at the pod that serves it best.
 * @param serves chain and interface, such as `ETH1 jsonrpc`
 * @param before stays until two observations agree
 */
export function listenerIn(
  observations: Observations,
  serves: string,
  before: ListenerHealth = {},
): ListenerHealth {
  if (observations === null) return {}
  const [older, newer] = observations.map((view) => bestIn(view, serves))
  if (!older || !newer || older.serving !== newer.serving) {
    const { serving, message } = before
    return { ...(serving && { serving }), ...(message && { message }) }
  }
  // Reasons that change all the time, such as the length of a cooldown, do not change the status.
  const isSettled = older.message === newer.message || before.serving !== newer.serving
  const message = isSettled ? newer.message : before.message
  return { ...(newer.serving && { serving: newer.serving }), ...(message && { message }) }
}

function bestIn({ pods }: FleetView, serves: string): ListenerHealth {
  const [best] = pods
    .flatMap(({ listeners = [] }) => listeners)
    .filter((each) => `${each.chain} ${each.interface}` === serves)
    .toSorted((a, b) => b.serving - a.serving)
  if (best === undefined) return {}
  return { serving: `${best.serving}/${best.total}`, ...(best.why && { message: best.why }) }
}

/** Whether none of its upstreams serves. */
export function isDark({ serving }: ListenerHealth): boolean {
  return serving?.startsWith('0/') === true
}

const components = { sessions: 'redis', cache: 'redis-cache' } as const

/** Returns the stores that pods cannot use; null while two observations do not agree. */
export function lostStoresIn(observations: Observations): readonly LostStore[] | null {
  if (observations === null) return []
  const [older, newer] = observations.map(lostIn)
  const keyOf = (lost: readonly LostStore[] | null | undefined) =>
    lost && JSON.stringify(lost.map(({ component, isPartial }) => [component, isPartial]))
  return newer && keyOf(older) === keyOf(newer) ? newer : null
}

function lostIn({ pods }: FleetView): readonly LostStore[] | null {
  if (pods.length === 0) return null
  return Object.entries(components).flatMap(([feature, component]): readonly LostStore[] => {
    const failing = pods.flatMap(
      ({ stores = [] }) => stores.find((each) => each.feature === feature) ?? [],
    )
    const [first] = failing
    if (first === undefined) return []
    const isPartial = failing.length < pods.length
    const who = isPartial ? `${failing.length} of ${pods.length} pods report` : 'The pods report'
    return [{ component, isPartial, problem: `${who}: ${first.name}: ${first.why}` }]
  })
}
