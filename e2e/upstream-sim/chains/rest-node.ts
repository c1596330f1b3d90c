// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { FaultSwitch } from '../faults.ts'
import type { NodeReply, NodeRequest } from './served-node.ts'

/** One call of a route. */
export interface RouteCall<View> {
  readonly view: View
  readonly query: URLSearchParams
  readonly body: Buffer
  readonly contentType: string
  readonly header: (name: string) => string | null
  /** What stands for `{name}` in the path, percent-encoding as sent. */
  readonly segment: (name: string) => string
}

export interface Route<View> {
  readonly verb: 'GET' | 'POST'
  /** Below the prefix: `/blocks/{height}`. */
  readonly path: string
  /** Of a good answer; 200 when not said. */
  readonly status?: number
  /** The document. Throws a `RestError` for the node's own errors. */
  run(call: RouteCall<View>): unknown
}

/** What a node answers instead of a document. */
export class RestError extends Error {
  override readonly name = 'RestError'
  readonly status: number
  readonly document: unknown

  constructor(status: number, document: unknown) {
    super(`HTTP ${status}`)
    this.status = status
    this.document = document
  }
}

/** How a chain's nodes speak REST. */
export interface RestManner<View> {
  readonly prefix: string
  /** Of two that match, the first: what is written out before parameters. */
  readonly routes: readonly Route<View>[]
  readonly headersOf: (view: View) => Readonly<Record<string, string>>
  readonly notFound: () => RestError
  /** The document of an error that a fault makes. */
  readonly fault: (message: string) => unknown
}

interface Skewed {
  skewed(): Skewed
}

/** Answers a REST request, with the faults that strike it. */
export function answerRest<View extends Skewed>(
  request: NodeRequest,
  view: View,
  manner: RestManner<View>,
  faults: FaultSwitch,
): NodeReply {
  const found = findRoute(request, manner)
  const name = found ? `${found.route.verb} ${found.route.path}` : request.path
  const struck = faults.drawForCall(name)
  const skewed = struck.some(({ kind }) => kind === 'wrong-block')
  const shown = skewed ? (view.skewed() as View) : view
  let outcome = found ? run(found, request, shown) : manner.notFound()
  for (const fault of struck) {
    if (fault.kind === 'null-result') outcome = { status: 200, document: null }
    if (fault.kind === 'error') outcome = new RestError(500, manner.fault(fault.message))
  }
  return {
    status: outcome.status,
    contentType: 'application/json',
    body: JSON.stringify(outcome.document),
    headers: manner.headersOf(view),
    methods: [name],
  }
}

interface FoundRoute<View> {
  readonly route: Route<View>
  readonly segments: ReadonlyMap<string, string>
}

function findRoute<View>(
  { verb, path }: NodeRequest,
  { prefix, routes }: RestManner<View>,
): FoundRoute<View> | null {
  if (path !== prefix && !path.startsWith(`${prefix}/`)) return null
  const given = partsOf(path.slice(prefix.length))
  for (const route of routes) {
    if (route.verb !== (verb === 'HEAD' ? 'GET' : verb)) continue
    const wanted = partsOf(route.path)
    if (wanted.length !== given.length) continue
    const segments = new Map<string, string>()
    const fits = wanted.every((part, at) => {
      const text = given[at] ?? ''
      if (!part.startsWith('{')) return part === text
      segments.set(part.slice(1, -1), text)
      return text !== ''
    })
    if (fits) return { route, segments }
  }
  return null
}

function partsOf(path: string): string[] {
  return path.split('/').slice(1, path.endsWith('/') ? -1 : undefined)
}

function run<View>(
  { route, segments }: FoundRoute<View>,
  { query, body, headers }: NodeRequest,
  view: View,
): { readonly status: number; readonly document: unknown } {
  const header = (name: string) => {
    const value = headers[name]
    return (Array.isArray(value) ? value[0] : value) ?? null
  }
  const segment = (name: string) => segments.get(name) ?? ''
  const contentType = header('content-type') ?? ''
  try {
    const document = route.run({ view, query, body, header, segment, contentType })
    return { status: route.status ?? 200, document }
  } catch (error) {
    if (error instanceof RestError) return error
    throw error
  }
}
