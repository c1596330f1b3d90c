// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP } from 'node:net'
import { Environment, type ParseResult } from '@marcbachmann/cel-js'
import { quantityValue } from '../api/quantity.ts'
import { type Json, isList, isMap } from './read-documents.ts'

/** Judges values by rules in CEL, each of them read once. */
export class RuleBook {
  readonly #environment = kubernetesEnvironment()
  readonly #rules = new Map<string, ParseResult>()

  /**
   * Whether a rule holds; a rule that cannot be evaluated does not.
   * @throws ParseError when the rule is no CEL
   */
  holds(rule: string, self: Json): boolean {
    const program = this.#rules.get(rule) ?? this.#environment.parse(rule)
    this.#rules.set(rule, program)
    try {
      return program({ self: celValue(self) }) === true
    } catch {
      return false
    }
  }
}

/** The language as the API server has it, as far as our rules use it: its libraries are more than the standard. */
function kubernetesEnvironment(): Environment {
  return new Environment({ enableOptionalTypes: true })
    .registerVariable('self', 'dyn')
    .registerFunction('string.replace(string, string): string', (text, old, by) =>
      (text as string).replaceAll(old as string, () => by as string),
    )
    .registerFunction('list<int>.sum(): int', (numbers) =>
      (numbers as readonly bigint[]).reduce((sum, each) => sum + each, 0n),
    )
    .registerFunction('isCIDR(string): bool', (text) => isCidr(text as string))
    .registerFunction('quantity(string): double', (text) => {
      const value = quantityValue(text as string)
      if (value === null) throw new TypeError(`no quantity: ${String(text)}`)
      return value
    })
    .registerFunction('double.compareTo(double): int', (one, other) =>
      BigInt(Math.sign((one as number) - (other as number))),
    )
}

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? []
  const most = { 4: 32, 6: 128 }[isIP(address)]
  return most !== undefined && Number(bits) <= most
}

/** CEL has a type for whole numbers; none of our schemas has a number that need not be whole. */
function celValue(value: Json): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value
  if (isList(value)) return value.map(celValue)
  if (!isMap(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, celValue(inner)]))
}
