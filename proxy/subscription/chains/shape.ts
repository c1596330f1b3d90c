// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Whether a value of JSON is of a kind. */
export type Shape = (value: unknown) => boolean

export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
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
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
    const object = value as Readonly<Record<string, unknown>>
    return (
      Object.entries(needed).every(([name, fits]) => !lacks(object, name) && fits(object[name])) &&
      Object.entries(known).every(([name, fits]) => lacks(object, name) || fits(object[name]))
    )
  }
}
