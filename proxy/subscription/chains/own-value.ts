// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { bufferOf } from '../../json/text.ts'
import type { Answer, Ask, OwnQuestion } from '../ask.ts'
import { Unconnected } from '../failures.ts'

/** An answer, understood. */
export interface AnsweredValue<T> extends Pick<Answer, 'upstream'> {
  readonly value: T
}

/** Asks, and reads the answer as what it should be. @throws Unconnected when it is not */
export async function askFor<T>(
  ask: Ask,
  question: Omit<OwnQuestion, 'avoid'>,
  isRight: (value: unknown) => value is T,
): Promise<AnsweredValue<T>> {
  const { result, upstream } = await ask({ ...question, avoid: [] })
  const value = JSON.parse(bufferOf(result).toString()) as unknown
  if (!isRight(value))
    throw new Unconnected(`${question.method}: not such an answer as it should be`)
  return { value, upstream }
}

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

export function areWhole(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(isWhole)
}
