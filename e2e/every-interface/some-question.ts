// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, MethodSpec, Question } from '../../proxy/chain/types.ts'

/** A request for a method of a spec, as a client sends it. */
export interface KnownQuestion {
  /** The path for REST, otherwise the method. */
  readonly text: string
  readonly verb: string
}

const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

/**
 * A method of a spec, preferably a read without checks, so that any answer passes. It excludes
 * methods that the router itself calls, because the node has answers for them.
 */
export function someQuestion(offered: ChainInterface): KnownQuestion {
  const own = new Set(
    [offered.latestBlock, ...offered.verifications.map(({ call }) => call)].flatMap((call) =>
      call ? [`${call.verb} ${call.path.replace(/^\//, '')}`] : [],
    ),
  )
  const isOwn = (verb: string, text: string) => own.has(`${verb} ${text.replace(/^\//, '')}`)
  const requests = [...offered.methods].flatMap((name) => {
    const text = name.replaceAll(/\{[^}]*\}/g, '1')
    const all = offered.apiInterface === 'rest' ? verbs : ['POST']
    return all.flatMap((verb) => {
      const call = offered.classify(questionOf(offered, verb, text))
      const fits = call.known && call.kind !== 'subscribe' && !isOwn(verb, text)
      return fits ? [{ text, verb, call }] : []
    })
  })
  const [best] = requests.toSorted((one, other) => awkwardness(one.call) - awkwardness(other.call))
  if (!best) throw new Error('the spec names no method that can be asked')
  return best
}

function awkwardness({ checks, kind }: MethodSpec): number {
  return checks.length * 2 + (kind === 'read' ? 0 : 1)
}

function questionOf({ apiInterface }: ChainInterface, verb: string, text: string): Question {
  const header = () => null
  if (apiInterface === 'rest') return { apiInterface, verb, path: text, query: '', header }
  if (apiInterface === 'grpc') return { apiInterface, method: text, header }
  return { apiInterface, method: text, params: [] }
}
