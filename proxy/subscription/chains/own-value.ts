// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import type { Answer, Ask, OwnQuestion } from '../ask.ts'
import { mayPass, Unconnected } from '../failures.ts'

/** Upstreams that are asked for what the one before does not have, or tells as it cannot be. */
export const mostAsked = 3

/** An answer, understood. */
export interface AnsweredValue<T> extends Pick<Answer, 'upstream'> {
  readonly value: T
}

/** Reads the result of an answer. @returns null for what is not such a result */
type Reading<T> = (result: Uint8Array) => T | null

type OwnAsking = Omit<OwnQuestion, 'avoid'> & Partial<Pick<OwnQuestion, 'avoid'>>

/**
 * Asks, and reads the answer as what it should be. Who answers otherwise has failed, and another one
 * is asked.
 * @throws Unconnected when nobody answers as it should be, and what asking throws
 */
export async function askFor<T>(
  ask: Ask,
  question: OwnAsking,
  read: Reading<T>,
): Promise<AnsweredValue<T>> {
  const { method } = question
  const before = question.avoid ?? []
  const failed: string[] = []
  const why = () =>
    `${method}: no such answer as it should be of ${[...before, ...failed].join(', ')}`
  while (failed.length < mostAsked) {
    const avoid = [...before, ...failed]
    const { result, upstream } = await ask({ ...question, avoid }).catch((cause: unknown) => {
      if (avoid.length === 0 || !mayPass(cause)) throw cause
      throw new Unconnected(why(), { cause })
    })
    const value = read(result)
    if (value !== null) return { value, upstream }
    failed.push(upstream)
  }
  throw new Unconnected(why())
}

/** A reading of JSON that must be so. */
export function jsonOf<T>(isRight: (value: unknown) => value is T): Reading<T> {
  return (result) => {
    const value = JSON.parse(bufferOf(result).toString()) as unknown
    return isRight(value) ? value : null
  }
}
