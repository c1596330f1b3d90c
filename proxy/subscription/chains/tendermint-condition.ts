// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Operand, QueryCondition } from './tendermint-query.ts'
import type { Attributes } from './tendermint-event.ts'
import { compareNumbers, numberIn, numberOf } from './tendermint-number.ts'
import { readDate, readTime } from './tendermint-time.ts'

/** Whether a condition holds for what a block or a transaction tells. */
export type Judge = (attributes: Attributes) => boolean

/**
 * As CometBFT judges from 0.38 on: any value of the attribute will do. What names no attribute but
 * the type of an event, as `transfer`, has an empty text as its value.
 */
export function judgeOf(condition: QueryCondition): Judge {
  const { tag } = condition
  const fits = fitting(condition)
  const fitsNone = fits('')
  return (attributes) =>
    (Object.hasOwn(attributes, tag) && (attributes[tag] ?? []).some(fits)) ||
    (fitsNone && Object.keys(attributes).some((name) => typeOf(name) === tag))
}

/** Nodes take what stands before the last dot for the type, whichever the event's own is. */
function typeOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

function fitting({ operator, operand }: QueryCondition): (value: string) => boolean {
  if (operator === 'EXISTS') return () => true
  const { type, text } = operand
  if (operator === 'CONTAINS') return (value) => value.includes(text)
  if (type === 'text') return (value) => value === text
  const compare = comparing(operand)
  const agrees = agreements[operator]
  return (value) => {
    const order = compare(value)
    return order !== null && agrees(order)
  }
}

const agreements = {
  '=': (order: number) => order === 0,
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
}

/** How a value stands to the operand, as for sorting; null where it is of no such kind. */
function comparing({ type, text }: Operand): (value: string) => number | null {
  if (type === 'number') {
    const wanted = numberOf(text)
    return (value) => {
      const number = numberIn(value)
      return number && compareNumbers(number, wanted)
    }
  }
  const read = type === 'time' ? readTime : readDate
  const wanted = read(text)
  return (value) => {
    const point = read(value)
    if (point === null || wanted === null) return null
    return point < wanted ? -1 : Number(point > wanted)
  }
}
