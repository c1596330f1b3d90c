// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Program, startProgram } from '../program/program.ts'
import { ethereumConfig, type Workspace } from '../program/workspace.ts'

/** The answer to a client. */
export interface Answer {
  readonly status: number
  /** Upstream of the answer; null if the router answered itself. */
  readonly node: string | null
  /** `data.reason` of the router's own error; otherwise null. */
  readonly reason: string | null
  readonly result: unknown
  /** `Provider-Latest-Block`. */
  readonly latest: number
}

interface NamedUrl {
  readonly name: string
  readonly url: string
}

/** One of several router processes with the same nodes and store. */
export class Replica {
  readonly program: Program
  readonly #url: string

  constructor(program: Program) {
    this.program = program
    this.#url = program.urls[0] ?? ''
  }

  /** @param session id of a session; null: a plain request */
  async ask(
    session: string | null,
    headers: Readonly<Record<string, string>> = {},
    method = 'eth_blockNumber',
    params: readonly unknown[] = [],
  ): Promise<Answer> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(session !== null && { 'rpc-stickiness': session }),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const { error, result } = JSON.parse(isJson ? text : '{}') as {
      error?: { data?: { reason?: string } }
      result?: unknown
    }
    const node = response.headers.get('rpc-provider-address')
    const latest = Number(response.headers.get('provider-latest-block') ?? 0)
    return { status: response.status, node, reason: error?.data?.reason ?? null, result, latest }
  }

  /** Number of eligible upstreams. */
  async eligible(): Promise<number> {
    const states = /^router_upstream_state\{.*state="eligible".*\} 1$/gm
    return (await this.#metrics()).match(states)?.length ?? 0
  }

  async #metrics(): Promise<string> {
    return (await fetch(`${this.program.adminUrl}/metrics`)).text()
  }

  /** The value of a series without labels, or with an outcome. */
  async metric(name: string, outcome?: string): Promise<number> {
    const page = await this.#metrics()
    const start = outcome === undefined ? `${name} ` : `${name}{outcome="${outcome}"} `
    const line = page.split('\n').find((each) => each.startsWith(start))
    return Number(line?.slice(start.length) ?? NaN)
  }
}

/** Replicas that share sessions in a store. `await using` ends them. */
export interface Fleet extends AsyncDisposable {
  readonly all: readonly [Replica, Replica, ...Replica[]]
}

/** @param store a Redis, or the address of a cache service, which also shares answers */
export async function startFleet(
  workspace: Workspace,
  nodes: readonly NamedUrl[],
  store: Readonly<Record<string, unknown>> | string,
  count = 2,
  settings: Readonly<Record<string, unknown>> = {},
): Promise<Fleet> {
  const isService = typeof store === 'string'
  const config = ethereumConfig(nodes, {
    ...(isService ? { 'cache-be': store, 'cache-bytes': '1MiB' } : { 'resp-cache': store }),
    'shared-state': true,
    'liveness-probe-interval': '1s',
    strategy: 'round-robin',
    ...settings,
  })
  const programs: Program[] = []
  // Replicas start in sequence, because each writes its config to the same file.
  for (let each = 0; each < count; each++) {
    const own: Workspace = {
      ...workspace,
      write: (name, content) =>
        workspace.write(
          `${each}-${isService ? store : String(store['key-prefix'])}-${name}`,
          content,
        ),
    }
    programs.push(await startProgram(own, config))
  }
  const [first, second, ...others] = programs.map((each) => new Replica(each))
  if (!first || !second) throw new Error('a fleet has two replicas at least')
  return {
    all: [first, second, ...others],
    async [Symbol.asyncDispose]() {
      await Promise.all(programs.map((each) => each[Symbol.asyncDispose]()))
    },
  }
}
