// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** One condition of a query, as `tx.height>=5`. */
export interface QueryCondition {
  readonly key: string
  readonly operator: string
  /** As written, with its quotes; empty for `EXISTS`. */
  readonly value: string
}

const condition =
  /\s*([^\s'"<>=()]+)\s*(?:(<=|>=|<|>|=|\bCONTAINS\b)\s*('[^']*'|(?:DATE|TIME)\s+[^\s']+|-?[0-9.]+)|\s(EXISTS))\s*/y
const conjunction = /AND(?=\s)/y

/**
 * The conditions of a query, in one order and each once; all of them must hold.
 * @returns null for what is no such query
 */
export function readQuery(text: string): readonly QueryCondition[] | null {
  const found = new Map<string, QueryCondition>()
  for (let at = 0; ;) {
    condition.lastIndex = at
    const match = condition.exec(text)
    if (match === null) return null
    const [whole, key = '', operator, value = '', exists] = match
    const one = {
      key,
      operator: operator ?? exists ?? '',
      value: value.startsWith("'") ? value : value.replace(/\s+/, ' '),
    }
    found.set(writeCondition(one), one)
    at += whole.length
    if (at === text.length) break
    conjunction.lastIndex = at
    // White space stands between a condition and the next word.
    if (!/\s/.test(text[at - 1] as string) || !conjunction.test(text)) return null
    at += 3
  }
  return [...found].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

export function writeQuery(conditions: readonly QueryCondition[]): string {
  return conditions.map(writeCondition).join(' AND ')
}

function writeCondition({ key, operator, value }: QueryCondition): string {
  return /[A-Z]/.test(operator)
    ? `${key} ${operator} ${value}`.trimEnd()
    : `${key}${operator}${value}`
}
