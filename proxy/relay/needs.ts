// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Wanted } from '../upstream/pick.ts'
import type { Call } from './call.ts'
import type { AttemptRecord } from './journal.ts'

/** Add-ons and extensions that an upstream must declare to serve the call. */
export function addonsOf({ asked, directives }: Call): readonly string[] {
  const addons = asked.addon === null ? [] : [asked.addon]
  return directives.extension === null ? addons : [...addons, directives.extension]
}

/** What the next attempt on behalf of the call needs of an upstream. */
export function wantedBy(call: Call): Wanted {
  const { asked, directives, journal } = call
  return {
    addons: addonsOf(call),
    block: asked.block,
    byHash: asked.byHash,
    cost: asked.cost,
    prefer: directives.selectProvider,
    excluded: [...directives.blockProviders, ...refusedBy(call), ...busyWith(call)],
    tried: (upstream) => journal.tried(upstream),
    untriedOnly: call.attemptKind === 'hedge' || asked.kind === 'write',
  }
}

/**
 * Upstreams that failed the call without being to blame: asked again, they would say the same. One
 * whose other URL is being asked may have the answer yet, and better than one that lags.
 */
function refusedBy({ journal: { attempts } }: Call): readonly string[] {
  const isAsked = (name: string) =>
    attempts.some(({ upstream, endedMs }) => upstream === name && endedMs === null)
  return attempts
    .filter(({ upstream, result }) => isSettled(result) && !isAsked(upstream))
    .map(({ upstream }) => upstream)
}

/** Upstreams that are late with the call: asked again beside that, they would be later still. */
function busyWith({ attemptKind, journal: { attempts } }: Call): readonly string[] {
  if (attemptKind !== 'retry') return []
  return attempts.filter(({ endedMs }) => endedMs === null).map(({ upstream }) => upstream)
}

/** It answered, and not well enough; or failed without blame. */
function isSettled(result: AttemptRecord['result']): boolean {
  if (typeof result === 'object') return result?.weight === 0
  return result === 'answer' || result === 'node-error'
}
