// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { matcher } from '../method-patterns.ts'
import { interfaceParts } from '../native/extend.ts'
import type { NativeInterface, NativeSpec } from '../native/schema.ts'
import type { MethodSpec, Question } from '../types.ts'
import { notationOf, placeReader, pointWords } from './block.ts'
import {
  ambiguous,
  compileMethod,
  unknownMethod,
  type Classify,
  type NamedMethod,
} from './method.ts'
import { isAmbiguousPath, PathTree, segmentsOf } from './path-tree.ts'

/** The methods of an interface: the standard set, then its add-ons. */
export function methodsOf(spec: NativeInterface): NamedMethod[] {
  return interfaceParts(spec).flatMap(({ addon, part }) =>
    Object.entries(part.methods ?? {}).map(([key, method]) => {
      // A key is `GET /blocks/{height}`, or `/C/rpc eth_call` where several paths share a name.
      const [first, name] = key.split(' ', 2) as [string, string?]
      return { name: name ?? first, verb: name === undefined ? '' : first, addon, method }
    }),
  )
}

/** Compiles the classifier of an interface's requests. */
export function compileClassify(
  chain: NativeSpec,
  apiInterface: ApiInterface,
  spec: NativeInterface,
): (question: Question) => MethodSpec {
  const words = pointWords(chain['block-words'])
  const overrides = {
    // Checks cannot read gRPC messages.
    ...(apiInterface === 'grpc' && { checks: [] }),
    ...(chain.cacheable === false && { cacheable: false }),
  }
  const compile: Compile = (named, pattern = '') => {
    const notation = notationOf(chain.family, apiInterface, named.name)
    return compileMethod({ ...named, method: { ...named.method, ...overrides } }, spec, {
      notation,
      writesHeights: notation === 'ethereum' || apiInterface !== 'jsonrpc',
      words,
      placeReader: (place) => placeReader(place, pattern),
    })
  }
  return (apiInterface === 'rest' ? compileRest : compileByName)(spec, methodsOf(spec), compile)
}

/** @param pattern REST only: the path pattern that matched, by name or alias */
type Compile = (named: NamedMethod, pattern?: string) => Classify

const noSegments: readonly string[] = []

/** Classifies JSON-RPC, Tendermint RPC and gRPC by the method's name. */
function compileByName(
  spec: NativeInterface,
  methods: readonly NamedMethod[],
  compile: Compile,
): (question: Question) => MethodSpec {
  // A chain may serve one name under several paths, so each path has a table. The table of the
  // empty path has all names; the first in the spec wins.
  const anywhere = new Map<string, Classify>()
  const byPath = new Map([['', anywhere]])
  const atRootFirst = methods.toSorted(
    (a, b) => Number(pathOf(a) !== '') - Number(pathOf(b) !== ''),
  )
  for (const named of atRootFirst) {
    const classify = compile(named)
    for (const name of [named.name, ...otherNames(named.name, spec.aliases)])
      if (!anywhere.has(name)) anywhere.set(name, classify)
    const path = pathOf(named)
    if (path === '') continue
    const own = byPath.get(path) ?? new Map<string, Classify>()
    byPath.set(path, own.set(named.name, classify))
  }
  const isOperators = matcher(spec['operator-only'] ?? [])
  const readNames = (spec['read-names'] ?? []).map((each) => new RegExp(each))
  return (question) => {
    if (question.apiInterface === 'rest') return unknownMethod(question.path, 'read')
    const { method } = question
    const internalPath = question.apiInterface === 'jsonrpc' ? (question.internalPath ?? '') : ''
    const table = byPath.get(internalPath)
    const classify = (table ?? anywhere).get(method)
    if (classify !== undefined) return classify(question, noSegments)
    const kind = subscribing.test(method) ? 'subscribe' : 'read'
    return {
      ...unknownMethod(method, kind, table && internalPath),
      operatorOnly: isOperators(method),
      looksLikeRead: readNames.some((each) => each.test(method)) && !namesChange(method),
    }
  }
}

function pathOf({ method }: NamedMethod): string {
  return method['internal-path'] ?? ''
}

/**
 * Matches `starknet_subscribeNewHeads`, `parity_subscribe`, `Filecoin.EthUnsubscribe`. Over a
 * shared WebSocket, such a call would open a subscription that no client reads or ends.
 */
const subscribing = /^[^/]*[Ss]ubscribe(?![a-z])[^/]*$/

const changes =
  /_(?:set|send|submit|add|put|insert|update|replace|delete|remove|clear|reset|drop|cancel|import|start|stop|execute|subscribe|unsubscribe)_/

/** Whether a word of the name is the verb of a change, as in `foo_callAndSend`. */
function namesChange(method: string): boolean {
  const words = method.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]/g, '_').toLowerCase()
  return changes.test(`_${words}_`)
}

/** Classifies REST by verb and path. */
function compileRest(
  spec: NativeInterface,
  methods: readonly NamedMethod[],
  compile: Compile,
): (question: Question) => MethodSpec {
  const byVerb = new Map<string, PathTree<Classify>>()
  for (const named of methods) {
    const tree = byVerb.get(named.verb) ?? new PathTree()
    byVerb.set(named.verb, tree)
    for (const name of [named.name, ...otherNames(named.name, spec.aliases)])
      tree.add(name, compile(named, name))
  }
  return (question) => {
    if (question.apiInterface !== 'rest') return unknownMethod(question.method, 'read')
    const verb = question.verb === 'HEAD' ? 'GET' : question.verb
    const match = byVerb.get(verb)?.find(question.path)
    if (match) {
      const method = match.value(question, match.segments)
      return isAmbiguousPath(question.path) ? ambiguous(method) : method
    }
    // An unknown POST may change the node's state, so it is sent only once.
    // Normalized as nodes do, so that config patterns match every spelling.
    const path = `/${segmentsOf(question.path).join('/')}`
    const unknown = unknownMethod(path, verb === 'GET' ? 'read' : 'local')
    return { ...unknown, looksLikeRead: verb === 'GET', tipHeader: spec['tip-header'] }
  }
}

/** Prefixes of method names, each with alternative prefixes for the same methods. */
export type Aliases = NonNullable<NativeInterface['aliases']>

/**
 * Other names of a method or path whose prefix has an alias, in either direction:
 * `/sdk/bank/v1beta1/supply` and `/cosmos/bank/v1beta1/supply`.
 */
export function otherNames(name: string, aliases: Aliases = {}): string[] {
  const names = Object.entries(aliases).flatMap(([prefix, alias]) => {
    if (name.startsWith(alias)) return [prefix + name.slice(alias.length)]
    // The root is an exception: `/` maps to `/v1`, not `/v1/`.
    if (name === prefix && alias.startsWith(prefix)) return [alias.replace(/\/$/, '')]
    return name.startsWith(prefix) ? [alias + name.slice(prefix.length)] : []
  })
  return [...new Set(names)].filter((other) => other !== name)
}
