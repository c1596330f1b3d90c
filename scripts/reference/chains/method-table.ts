// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, MethodSpec } from '../../../proxy/chain/types.ts'
import { tableRow } from './table.ts'

const verbs = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** One method as a client writes it. */
interface Listed {
  /** The method as written by a client, with the verb for REST. */
  readonly written: string
  /** The classification of a call in which each param has this value. */
  ask(param?: string): MethodSpec
}

/** The router's handling of each method of an interface, as rows of a table. */
export function methodRows(offered: ChainInterface): readonly string[] {
  return [...offered.methods]
    .flatMap((name) => listed(offered, name))
    .map((method) => ({ method, asked: method.ask() }))
    .toSorted((a, b) => (a.asked.addon ?? '').localeCompare(b.asked.addon ?? ''))
    .map(({ method, asked }) => methodRow(method, asked))
}

/** A table of methods, or nothing if there are none. */
export function methodTable(rows: readonly string[]): string[] {
  if (rows.length === 0) return []
  return [
    '',
    '[Integrity](../../concepts/integrity.md) explains each check.',
    '',
    '| method | kind | add-on | block when none is given | cost | timeout | cached | checks |',
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ]
}

function listed(offered: ChainInterface, name: string): Listed[] {
  const { apiInterface } = offered
  const header = () => null
  if (apiInterface === 'grpc')
    return [{ written: name, ask: () => offered.classify({ apiInterface, method: name, header }) }]
  if (apiInterface !== 'rest') {
    const paramsOf = (param?: string) => (param === undefined ? [] : [param, param, param])
    return [
      {
        written: name,
        ask: (param) => offered.classify({ apiInterface, method: name, params: paramsOf(param) }),
      },
    ]
  }
  return verbs
    .map((verb) => ({
      written: `${verb} ${name}`,
      ask: (param?: string) => {
        const path = param === undefined ? name : name.replaceAll(/\{[^}]*\}/g, param)
        return offered.classify({ apiInterface, verb, path, query: '', header })
      },
    }))
    .filter(({ ask }) => ask().known && ask().name === name)
}

function methodRow({ written, ask }: Listed, method: MethodSpec): string {
  const { block } = method
  const blockWords = {
    none: 'does not depend on one',
    invalid: 'must be given',
    tag: block.kind === 'tag' ? `\`${block.tag}\`` : '',
    range: 'a range',
    number: '',
    hash: '',
  }
  // Tries several forms of block references.
  const anyHash = `0x${'0'.repeat(64)}`
  const isCached = [undefined, 'latest', '1', anyHash].some((param) => ask(param).cacheable)
  return tableRow([
    `\`${written}\``,
    method.kind,
    method.addon === null ? '' : `\`${method.addon}\``,
    blockWords[block.kind],
    String(method.cost),
    method.timeoutMs === null ? 'by cost' : `${method.timeoutMs / 1000} s`,
    isCached ? 'yes' : 'no',
    method.checks.map(({ rule }) => `\`${rule.check}\``).join(', '),
  ])
}
