// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { interfaceParts } from '../native/extend.ts'
import type { NativeInterface, NativeSpec } from '../native/schema.ts'
import type { Classification, Question } from '../types.ts'
import { notationOf, pointWords } from './block-point.ts'
import { withBlockHeaders, type BlockSyntax } from './block.ts'
import {
  compileMethod,
  unknownMethod,
  type Classify,
  type NamedMethod,
  otherNames,
} from './method.ts'
import { PathTree } from './path-tree.ts'
import {
  grpcPlace,
  namedCallPlace,
  restPlace,
  type GrpcCall,
  type NamedCall,
  type RestCall,
} from './places.ts'

/** The methods of an interface, the standard set before those of its add-ons. */
export function methodsOf(spec: NativeInterface): NamedMethod[] {
  return interfaceParts(spec).flatMap(({ addon, part }) =>
    Object.entries(part.methods ?? {}).map(([key, method]) => {
      // `GET /blocks/{height}`; of a chain that serves one name under several paths, `/C/rpc eth_call`.
      const [first, name] = key.split(' ', 2) as [string, string?]
      return { name: name ?? first, verb: name === undefined ? '' : first, addon, method }
    }),
  )
}

/** How the requests of an interface are classified. */
export function compileClassify(
  chain: NativeSpec,
  apiInterface: ApiInterface,
  spec: NativeInterface,
): (question: Question) => Classification {
  const words = pointWords(chain['block-words'])
  const methods = methodsOf(spec)
  if (apiInterface === 'rest') {
    const classify = compileRest(words, spec, methods)
    return (question) => (question.apiInterface === 'rest' ? classify(question) : stray(question))
  }
  if (apiInterface === 'grpc') {
    const classify = compileByName<GrpcCall>(spec, methods, (named) => {
      const block = withBlockHeaders(named.method.block, spec['block-headers'])
      const syntax = { notation: 'plain', words, placeReader: grpcPlace } as const
      const method = { ...named.method, block, checks: [] }
      return compileMethod({ ...named, method }, spec, syntax)
    })
    return (question) =>
      question.apiInterface === 'grpc' ? classify(question, '') : stray(question)
  }
  const classify = compileByName<NamedCall>(spec, methods, (named) => {
    const notation = notationOf(chain.family, apiInterface, named.name)
    return compileMethod(named, spec, { notation, words, placeReader: namedCallPlace })
  })
  return (question) => {
    if (question.apiInterface === 'jsonrpc') return classify(question, question.internalPath ?? '')
    return question.apiInterface === 'tendermintrpc' ? classify(question, '') : stray(question)
  }
}

/** A question in the words of another interface. */
function stray(question: Question): Classification {
  return unknownMethod(question.apiInterface === 'rest' ? question.path : question.method, 'read')
}

/** JSON-RPC, Tendermint RPC and gRPC: by the method's name. */
function compileByName<Call extends { readonly method: string }>(
  spec: NativeInterface,
  methods: readonly NamedMethod[],
  compile: (named: NamedMethod) => Classify<Call>,
): (call: Call, internalPath: string) => Classification {
  // A chain may serve methods of one name under several paths: each path has its own table. The
  // empty path stands for all of them, and for a name that several have, for the first in the spec.
  const anywhere = new Map<string, Classify<Call>>()
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
    const own = byPath.get(path) ?? new Map<string, Classify<Call>>()
    byPath.set(path, own.set(named.name, classify))
  }
  return (call, internalPath) => {
    const table = byPath.get(internalPath)
    const classify = (table ?? anywhere).get(call.method)
    if (classify !== undefined) return classify(call)
    const kind = subscribing.test(call.method) ? 'subscribe' : 'read'
    return unknownMethod(call.method, kind, table && internalPath)
  }
}

function pathOf({ method }: NamedMethod): string {
  return method['internal-path'] ?? ''
}

/**
 * `starknet_subscribeNewHeads`, `parity_subscribe`, `Filecoin.EthUnsubscribe`: as a call over a WebSocket that many share
 * it would open what nobody hears and nobody ends.
 */
const subscribing = /^[^/]*[Ss]ubscribe(?![a-z])[^/]*$/

/** REST: by verb and path. */
function compileRest(
  words: BlockSyntax<RestCall>['words'],
  spec: NativeInterface,
  methods: readonly NamedMethod[],
): (question: RestCall['question']) => Classification {
  const byVerb = new Map<string, PathTree<Classify<RestCall>>>()
  for (const named of methods) {
    const tree = byVerb.get(named.verb) ?? new PathTree()
    byVerb.set(named.verb, tree)
    const block = withBlockHeaders(named.method.block, spec['block-headers'])
    const own = { ...named, method: { ...named.method, block } }
    for (const name of [named.name, ...otherNames(named.name, spec.aliases)])
      tree.add(
        name,
        compileMethod(own, spec, {
          notation: 'plain',
          words,
          placeReader: (place) => restPlace(place, name),
        }),
      )
  }
  return (question) => {
    const verb = question.verb === 'HEAD' ? 'GET' : question.verb
    const match = byVerb.get(verb)?.find(question.path)
    if (match) return match.value({ question, segments: match.segments })
    // Nobody knows what an unnamed POST does: it is not asked twice.
    return unknownMethod(question.path, verb === 'GET' ? 'read' : 'local')
  }
}
