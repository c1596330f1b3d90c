// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainNode, NodeRequest } from './served-node.ts'
import type { NodeReply } from './http-reply.ts'

export interface RouteCall<View> extends NodeRequest {
  readonly view: View
  /** The raw value of `{name}` in the path, with its percent-encoding. */
  readonly segment: (name: string) => string
}

/** Returns a document. For a status other than 200 it returns or throws a `RestReply`. */
export type Route<View> = (call: RouteCall<View>) => unknown

export class RestReply extends Error {
  override readonly name = 'RestReply'
  readonly status: number
  readonly document: unknown

  constructor(status: number, document: unknown) {
    super(`HTTP ${status}`)
    this.status = status
    this.document = document
  }
}

export interface RestDialect<View> {
  readonly prefix: string
  /** Routes by verb and path below the prefix: `GET /blocks/{height}`. The first match wins. */
  readonly routes: Readonly<Record<string, Route<View>>>
  readonly headersOf: (view: View) => Readonly<Record<string, string>>
  readonly notFound: RestReply
}

export class RestNode<View> implements ChainNode {
  readonly view: View
  readonly #dialect: RestDialect<View>

  constructor(view: View, dialect: RestDialect<View>) {
    this.view = view
    this.#dialect = dialect
  }

  answer(request: NodeRequest): NodeReply {
    const { prefix, routes, headersOf, notFound } = this.#dialect
    const { verb, path } = request
    const below =
      path === prefix || path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : null
    for (const [name, run] of Object.entries(routes)) {
      const [routeVerb, pattern = ''] = name.split(' ')
      const segments = routeVerb === verb && below !== null ? segmentsOf(below, pattern) : null
      if (segments === null) continue
      const segment = (key: string) => segments.get(key) ?? ''
      return written(run, { ...request, view: this.view, segment }, name, headersOf(this.view))
    }
    const { status, document } = notFound
    return { status, contentType: json, body: JSON.stringify(document), methods: [path] }
  }
}

const json = 'application/json'

function written<View>(
  run: Route<View>,
  call: RouteCall<View>,
  name: string,
  headers: Readonly<Record<string, string>>,
): NodeReply {
  let found: unknown
  try {
    found = run(call)
  } catch (error) {
    if (!(error instanceof RestReply)) throw error
    found = error
  }
  const { status, document } = found instanceof RestReply ? found : { status: 200, document: found }
  return { status, contentType: json, body: JSON.stringify(document), methods: [name], headers }
}

/** The parameters of a path; null if the path does not match the pattern. */
function segmentsOf(path: string, pattern: string): ReadonlyMap<string, string> | null {
  const parts = (text: string) => text.split('/').slice(1, text.endsWith('/') ? -1 : undefined)
  const [given, wanted] = [parts(path), parts(pattern)]
  if (given.length !== wanted.length) return null
  const segments = new Map<string, string>()
  for (const [at, part] of wanted.entries()) {
    const text = given[at] ?? ''
    if (part.startsWith('{') && text !== '') segments.set(part.slice(1, -1), text)
    else if (part !== text) return null
  }
  return segments
}
