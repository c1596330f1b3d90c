// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainInterface, Classification, Question } from '../../proxy/chain/types.ts'

/** A question that a spec names, as a client asks it. */
export interface KnownQuestion {
  /** A path for REST, else the method's name. */
  readonly text: string
  /** For REST. */
  readonly verb: string
}

const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']

/**
 * One of the methods that a spec names: a read whose answer is not checked, where there is one, so
 * that any answer will do; and none that the router asks itself, for that has an answer already.
 */
export function someQuestion(offered: ChainInterface): KnownQuestion {
  const own = new Set(
    [offered.latestBlock, ...offered.verifications.map(({ call }) => call)].flatMap((call) =>
      call ? [`${call.verb} ${call.path.replace(/^\//, '')}`] : [],
    ),
  )
  const isOwn = (verb: string, text: string) => own.has(`${verb} ${text.replace(/^\//, '')}`)
  const asked = [...offered.methods].flatMap((name) => {
    const text = name.replaceAll(/\{[^}]*\}/g, '1')
    const all = offered.apiInterface === 'rest' ? verbs : ['POST']
    return all.flatMap((verb) => {
      const said = offered.classify(questionOf(offered, verb, text))
      const fits = said.known && said.kind !== 'subscribe' && !isOwn(verb, text)
      return fits ? [{ text, verb, said }] : []
    })
  })
  const [best] = asked.toSorted((one, other) => awkwardness(one.said) - awkwardness(other.said))
  if (!best) throw new Error('the spec names no method that can be asked')
  return best
}

function awkwardness({ checks, kind }: Classification): number {
  return checks.length * 2 + (kind === 'read' ? 0 : 1)
}

function questionOf({ apiInterface }: ChainInterface, verb: string, text: string): Question {
  const header = () => null
  if (apiInterface === 'rest') return { apiInterface, verb, path: text, query: '', header }
  if (apiInterface === 'grpc') return { apiInterface, method: text, header }
  return { apiInterface, method: text, params: [] }
}
