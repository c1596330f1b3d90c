// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Whether a value of JSON is of a kind. */
export type Shape = (value: unknown) => boolean

export const isText: Shape = (value) => typeof value === 'string'

/** An integer of 64 bits, which nodes in Go write as text. */
export const isInteger: Shape = (value) => typeof value === 'string' && /^-?\d{1,20}$/.test(value)

/** Without a pattern, which may be too much for what is long. */
export const isBase64: Shape = (value) =>
  typeof value === 'string' && Buffer.from(value, 'base64').toString('base64') === value

export const isFlag: Shape = (value) => typeof value === 'boolean'

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

export const isObject: Shape = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function orNull(shape: Shape): Shape {
  return (value) => value === null || shape(value)
}

export function listOf(shape: Shape): Shape {
  return (value) => Array.isArray(value) && value.every((each) => shape(each))
}

/**
 * @param needed must be there
 * @param known may be left out; what is in neither may be anything
 */
export function objectOf(
  needed: Readonly<Record<string, Shape>>,
  known: Readonly<Record<string, Shape>> = {},
): Shape {
  const lacks = (object: object, name: string) => !Object.hasOwn(object, name)
  return (value) => {
    if (!isObject(value)) return false
    const object = value as Readonly<Record<string, unknown>>
    return (
      Object.entries(needed).every(([name, fits]) => !lacks(object, name) && fits(object[name])) &&
      Object.entries(known).every(([name, fits]) => lacks(object, name) || fits(object[name]))
    )
  }
}
