// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import { partsOf } from '../native/extend.ts'
import type { NativeInterface, NativeSpec } from '../native/schema.ts'
import type { Classification, Question } from '../types.ts'
import { notationOf, pointWords } from './block-point.ts'
import { withBlockHeaders } from './block.ts'
import { compileMethod, unknownMethod } from './method.ts'
import type { Classify, NamedMethod } from './method.ts'
import { PathTree } from './path-tree.ts'
import { grpcPlace, namedCallPlace, restPlace } from './places.ts'
import type { GrpcCall, NamedCall, RestCall } from './places.ts'
import { otherNames } from './probe.ts'

/** The methods of an interface, the standard set before those of its add-ons. */
export function methodsOf(spec: NativeInterface): NamedMethod[] {
  return partsOf(spec).flatMap(({ addon, part }) =>
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
  const methods = methodsOf(spec)
  if (apiInterface === 'rest') {
    const classify = compileRest(chain, spec, methods)
    return (question) => (question.apiInterface === 'rest' ? classify(question) : stray(question))
  }
  if (apiInterface === 'grpc') {
    const classify = compileGrpc(chain, spec, methods)
    return (question) => (question.apiInterface === 'grpc' ? classify(question) : stray(question))
  }
  const classify = compileByName(chain, apiInterface, spec, methods)
  return (question) => {
    if (question.apiInterface === 'jsonrpc') return classify(question, question.internalPath ?? '')
    if (question.apiInterface === 'tendermintrpc') return classify(question, '')
    return stray(question)
  }
}

/** A question in the words of another interface. */
function stray(question: Question): Classification {
  return unknownMethod(question.apiInterface === 'rest' ? question.path : question.method, 'read')
}

/** JSON-RPC and Tendermint RPC: by the method's name. */
function compileByName(
  chain: NativeSpec,
  apiInterface: ApiInterface,
  spec: NativeInterface,
  methods: readonly NamedMethod[],
): (call: NamedCall, internalPath: string) => Classification {
  const words = pointWords(chain['block-words'])
  // A chain may serve methods of one name under several paths: each path has its own table. The
  // empty path stands for all of them, and for a name that several have, for the first in the spec.
  const anywhere = new Map<string, Classify<NamedCall>>()
  const byPath = new Map<string, Map<string, Classify<NamedCall>>>([['', anywhere]])
  const atRootFirst = methods.toSorted(
    (a, b) => Number(pathOf(a) !== '') - Number(pathOf(b) !== ''),
  )
  for (const named of atRootFirst) {
    const notation = notationOf(chain.family, apiInterface, named.name)
    const classify = compileMethod(named, spec, { notation, words, placeReader: namedCallPlace })
    if (!anywhere.has(named.name)) anywhere.set(named.name, classify)
    const path = pathOf(named)
    if (path === '') continue
    const own = byPath.get(path) ?? new Map<string, Classify<NamedCall>>()
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
const subscribing = /[Ss]ubscribe(?![a-z])/

/** gRPC: by `package.Service/Method`. */
function compileGrpc(
  chain: NativeSpec,
  spec: NativeInterface,
  methods: readonly NamedMethod[],
): (call: GrpcCall) => Classification {
  const words = pointWords(chain['block-words'])
  const byName = new Map<string, Classify<GrpcCall>>()
  for (const named of methods) {
    const block = withBlockHeaders(named.method.block, spec['block-headers'])
    const syntax = { notation: 'plain', words, placeReader: grpcPlace } as const
    const method = { ...named.method, block, checks: [] }
    const classify = compileMethod({ ...named, method }, spec, syntax)
    for (const name of [named.name, ...otherNames(named.name, spec.aliases)])
      if (!byName.has(name)) byName.set(name, classify)
  }
  return (call) => byName.get(call.method)?.(call) ?? unknownMethod(call.method, 'read')
}

/** REST: by verb and path. */
function compileRest(
  chain: NativeSpec,
  spec: NativeInterface,
  methods: readonly NamedMethod[],
): (question: RestCall['question']) => Classification {
  const words = pointWords(chain['block-words'])
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
