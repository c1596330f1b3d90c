// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { BlockRule, Place } from '../chain-spec.ts'
import { blockTags } from '../types.ts'
import type { BlockTag } from '../types.ts'
import { parsePath } from './parse-path.ts'
import type { CatalogApi, CatalogCollectionData, CatalogParsing } from './schema.ts'

/** Words that chains of the catalog use for the named blocks. */
export const catalogBlockWords: ReadonlyMap<string, BlockTag> = new Map([
  ['validated', 'latest'],
  ['closed', 'latest'],
  ['current', 'pending'],
  ['optimistic', 'latest'],
  ['near-final', 'latest'],
  ['final', 'finalized'],
  ['head', 'latest'],
  ['genesis', 'earliest'],
  ['processed', 'latest'],
  ['confirmed', 'latest'],
  ['pre_confirmed', 'pending'],
  ['l1_accepted', 'finalized'],
])

/** How a method of the catalog tells its block. */
export function convertBlock(api: CatalogApi, data: CatalogCollectionData): BlockRule {
  const parsing = api.block_parsing
  if (parsing === undefined || parsing.parser_func === 'EMPTY') return noBlock
  if (parsing.parser_func === 'DEFAULT') return convertDefault(api, parsing)
  const absent = tagOf(parsing.default_value) ?? 'latest'
  const places = parsedPlaces(api, parsing, data)
  const [first] = places
  if (first === undefined) return { kind: 'fixed', block: absent }
  const range = first.in === 'params' ? filterRange(first, absent) : null
  if (range !== null) return range
  const dictionary = parsing.parser_func.startsWith('PARSE_DICTIONARY')
  const alternatives = genericPlaces(api, 'DEFAULT_VALUE')
  return point([...places, ...alternatives], absent, dictionary ? parsing.parser_arg[0] : undefined)
}

/** Whether a method answers about one thing that its hash names. */
export function namedByHash(api: CatalogApi): boolean {
  const kind = api.block_parsing?.parser_func ?? 'EMPTY'
  if (kind !== 'EMPTY' && kind !== 'DEFAULT' && kind !== 'PARSE_BY_ARG') return false
  return hashParsers(api).length > 0
}

const noBlock: BlockRule = { kind: 'fixed', block: 'none' }

// The catalog marks whatever names one thing as a hash, accounts among them.
function hashParsers(api: CatalogApi) {
  return (api.parsers ?? []).filter(
    (parser) => parser.parse_type === 'BLOCK_HASH' && !parser.parse_path.endsWith('address'),
  )
}

function convertDefault(api: CatalogApi, parsing: CatalogParsing): BlockRule {
  if (hashParsers(api).length > 0) return noBlock
  const absent = tagOf(parsing.parser_arg[0]) ?? 'latest'
  const from = genericPlaces(api, 'BLOCK_EARLIEST')[0]
  const to = genericPlaces(api, 'BLOCK_LATEST')[0]
  if (to === undefined) return { kind: 'fixed', block: absent }
  return from === undefined
    ? point([to], absent)
    : { kind: 'range', from, to, hash: null, absentFrom: absent, absentTo: absent }
}

function point(places: readonly Place[], absent: BlockTag | 'none', field?: string): BlockRule {
  return {
    kind: 'point',
    places,
    form: 'any',
    absent,
    numberField: field ?? 'blockNumber',
    hashField: field === undefined ? 'blockHash' : field.replace(/number|height|index/, 'hash'),
  }
}

/** `fromBlock` or `toBlock` of a filter object: the catalog names one end, the call has both. */
function filterRange(place: Extract<Place, { in: 'params' }>, absent: BlockTag): BlockRule | null {
  const field = place.path.at(-1)
  if (field !== 'toBlock' && field !== 'fromBlock') return null
  const at = (name: string): Place => ({ ...place, path: [...place.path.slice(0, -1), name] })
  return {
    kind: 'range',
    from: at('fromBlock'),
    to: at('toBlock'),
    hash: at('blockHash'),
    absentFrom: absent,
    absentTo: absent,
  }
}

function parsedPlaces(
  api: CatalogApi,
  parsing: CatalogParsing,
  data: CatalogCollectionData,
): Place[] {
  const [first = '', second = '', third = ''] = parsing.parser_arg
  const kind = parsing.parser_func
  if (data.api_interface === 'grpc') return []
  if (data.api_interface === 'rest') {
    if (kind === 'PARSE_BY_ARG') return []
    return restPlaces(api, kind === 'PARSE_CANONICAL' ? second : first)
  }
  if (kind === 'PARSE_BY_ARG') return [param(Number(first), null, [])]
  if (kind === 'PARSE_DICTIONARY') return [param(null, first, [])]
  const path = parsing.parser_arg.slice(1)
  if (kind === 'PARSE_CANONICAL') return [param(Number(first), null, path), ...named(path)]
  // By name a block may also be given whole, under a name of its own.
  const whole = first === 'block_number' ? [param(null, 'block_id', [])] : []
  return [param(Number(third), null, []), ...named([first]), ...whole]
}

/** The same path, where the params are one object instead of a list with it. */
function named([name, ...path]: readonly string[]): Place[] {
  return name === undefined ? [] : [param(null, name, path)]
}

function param(position: number | null, name: string | null, path: readonly string[]): Place {
  return { in: 'params', position, name, path }
}

function restPlaces(api: CatalogApi, name: string): Place[] {
  return [{ in: api.name.includes(`{${name}}`) ? 'path' : 'query', name }]
}

/** Places that `parsers` name: `.params.[0].toBlock`. */
function genericPlaces(api: CatalogApi, type: string): Place[] {
  return (api.parsers ?? [])
    .filter((parser) => parser.parse_type === type)
    .flatMap((parser) => {
      const [root, first, ...rest] = parsePath(parser.parse_path)
      if (root !== 'params' || first === undefined) return []
      if (api.name.startsWith('/')) return restPlaces(api, String(first))
      const position = typeof first === 'number' ? first : null
      const name = typeof first === 'number' ? null : first
      return [{ in: 'params' as const, position, name, path: rest }]
    })
}

function tagOf(word: string | undefined): BlockTag | null {
  const tag = blockTags.find((each) => each === word)
  return tag ?? (word === undefined ? null : (catalogBlockWords.get(word) ?? null))
}
