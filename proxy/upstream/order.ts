// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Upstream } from './upstream.ts'

/** Where an upstream stands to what is asked for. */
export type Fitness =
  | 'fit'
  /** It lags, and what is asked for by its hash may be newer than its head, or long known to it. */
  | 'may-lack'
  /** It lags, and the latest state is asked for. */
  | 'behind'
  /** It lags, and has told of no block as high as the one asked for: it would say that there is none. */
  | 'lacks'

/** What the order looks at. */
export interface Standing {
  readonly tier: Upstream['tier']
  /** Disabled: asked to see whether it is well again. */
  readonly isOnTrial: boolean
  /** This call has asked it already. */
  readonly isTried: boolean
  readonly fitness: Fitness
}

/** In which order upstreams are asked: whoever stands in an earlier place comes before all in later ones. */
export const places = [
  'untried primary',
  'untried backup',
  'primary that may lack it',
  'backup that may lack it',
  'untried primary on trial',
  'untried backup on trial',
  'tried primary',
  'tried backup',
  'primary behind',
  'backup behind',
  'tried primary on trial',
  'tried backup on trial',
  'primary behind on trial',
  'backup behind on trial',
  'tried primary behind',
  'tried backup behind',
  'tried primary behind on trial',
  'tried backup behind on trial',
  'primary without the block',
  'backup without the block',
  'primary without the block on trial',
  'backup without the block on trial',
  'tried primary without the block',
  'tried backup without the block',
  'tried primary without the block on trial',
  'tried backup without the block on trial',
] as const

export type Place = (typeof places)[number]

export function placeOf({ tier, isOnTrial, isTried, fitness }: Standing): Place {
  if (fitness === 'fit') {
    if (isTried) return isOnTrial ? `tried ${tier} on trial` : `tried ${tier}`
    return isOnTrial ? `untried ${tier} on trial` : `untried ${tier}`
  }
  if (fitness === 'may-lack' && !isTried && !isOnTrial) return `${tier} that may lack it`
  const what = fitness === 'lacks' ? 'without the block' : 'behind'
  const one = isTried ? (`tried ${tier}` as const) : tier
  return isOnTrial ? `${one} ${what} on trial` : `${one} ${what}`
}

/** The lower, the earlier it is asked. */
export function rankOf(standing: Standing): number {
  return places.indexOf(placeOf(standing))
}
