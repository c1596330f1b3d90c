// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../proxy/clock/clock.ts'
import type { ChainFacts, Facts } from '../../proxy/console/facts.ts'
import { at, someFacts } from '../../proxy/console/facts.fixture.ts'
import type { FailedCall } from '../../proxy/console/replicas.ts'
import { createLivePage } from '../../proxy/telemetry/live-page.ts'

/** An admin address whose facts and failed calls a test sets. `await using` ends it. */
export class ScriptedReplica implements AsyncDisposable {
  chains: readonly ChainFacts[]
  /** Null: it keeps none, as a router of an earlier version. */
  calls: readonly FailedCall[] | null = null
  readonly #server: Server
  readonly #startMs = performance.now()

  private constructor(chains: readonly ChainFacts[]) {
    this.chains = chains
    const facts = async (): Promise<Facts> =>
      someFacts(100 + (performance.now() - this.#startMs) / 1_000, this.chains, {
        // So young that what it has counted is of the present.
        started: at(90),
      })
    const page = createLivePage(facts, () => this.calls ?? [], systemClock, 'pod-1', {
      error() {},
    })
    this.#server = createServer(({ url = '' }, response) => {
      const answer = (status: number, type: string, text: string) =>
        response.writeHead(status, { 'content-type': type }).end(text)
      const guid = /^\/explain\/([^?]+)/.exec(url)?.[1]
      if (url === '/') response.writeHead(200, page.headers).end(page.html)
      else if (url === '/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        page.stream(response)
      } else if (url === '/facts')
        void facts().then((all) => answer(200, 'application/json', JSON.stringify(all)))
      else if (guid !== undefined) answer(200, 'text/plain', `why ${guid}:\nnode-b was asked first`)
      else if (url.startsWith('/explain?failed') && this.calls)
        answer(200, 'application/json', JSON.stringify({ calls: this.calls, more: 0 }))
      else answer(404, 'text/plain', 'not found')
    })
  }

  static async start(chains: readonly ChainFacts[]): Promise<ScriptedReplica> {
    const replica = new ScriptedReplica(chains)
    replica.#server.listen(0, '127.0.0.1')
    await once(replica.#server, 'listening')
    return replica
  }

  /** `host:port` */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
