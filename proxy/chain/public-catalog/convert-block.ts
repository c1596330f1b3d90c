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
  const hashes = genericPlaces(api, 'BLOCK_HASH')
  if (parsing === undefined || parsing.parser_func === 'EMPTY')
    return hashes.length > 0 ? point(hashes, 'none') : { kind: 'fixed', block: 'none' }
  const absent = tagOf(parsing.default_value) ?? 'latest'
  if (parsing.parser_func === 'DEFAULT') return convertDefault(api, parsing, hashes)
  const places = parsedPlaces(api, parsing, data)
  const [first] = places
  if (first?.in === 'params') {
    const range = filterRange(first, absent)
    if (range !== null) return range
  }
  if (places.length === 0) return { kind: 'fixed', block: absent }
  const field = parsing.parser_func.startsWith('PARSE_DICTIONARY')
    ? parsing.parser_arg[0]
    : undefined
  return point([...places, ...hashes, ...genericPlaces(api, 'DEFAULT_VALUE')], absent, field)
}

function convertDefault(
  api: CatalogApi,
  parsing: CatalogParsing,
  hashes: readonly Place[],
): BlockRule {
  const absent = tagOf(parsing.parser_arg[0]) ?? 'latest'
  const from = genericPlaces(api, 'BLOCK_EARLIEST')[0]
  const to = genericPlaces(api, 'BLOCK_LATEST')[0]
  if (from !== undefined && to !== undefined)
    return { kind: 'range', from, to, hash: null, absentFrom: absent, absentTo: absent }
  const places = [...hashes, ...(to === undefined ? [] : [to])]
  return places.length === 0 ? { kind: 'fixed', block: absent } : point(places, absent)
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
  switch (parsing.parser_func) {
    case 'PARSE_BY_ARG':
      return data.api_interface === 'rest' || data.api_interface === 'grpc'
        ? []
        : [param(Number(first), null, [])]
    case 'PARSE_CANONICAL':
      if (data.api_interface === 'rest') return restPlaces(api, second)
      return data.api_interface === 'grpc'
        ? []
        : namedPlaces(Number(first), parsing.parser_arg.slice(1))
    case 'PARSE_DICTIONARY':
      return data.api_interface === 'rest' ? restPlaces(api, first) : [param(null, first, [])]
    case 'PARSE_DICTIONARY_OR_ORDERED':
      if (data.api_interface === 'rest') return restPlaces(api, first)
      if (data.api_interface === 'grpc' || second === '') return []
      return [param(Number(third), first, [])]
    default:
      return []
  }
}

/** A field of the param at a position; or, when the params are an object, of that object itself. */
function namedPlaces(position: number, path: readonly string[]): Place[] {
  const [name = null] = path
  return [{ in: 'params', position, name, path }].map((place) =>
    path.length === 1 ? place : { ...place, name: null },
  ) as Place[]
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
