// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Readable } from 'node:stream'
import { systemClock } from '../../proxy/clock/clock.ts'
import { type SomeChain, someFacts } from '../../proxy/console/facts.fixture.ts'
import type { Facts, FailedCall } from '../../proxy/console/facts.ts'
import { createLivePage } from '../../proxy/console/live-page.ts'
import { MirrorNode } from '../rest/mirror-node.ts'

/** An admin address with the facts and failed calls of a test. `await using` ends it. */
export class ScriptedReplica implements AsyncDisposable {
  chains: readonly SomeChain[]
  calls: FailedCall[] = []
  readonly #node: MirrorNode
  readonly #startMs = performance.now()

  private constructor(chains: readonly SomeChain[]) {
    this.chains = chains
    const facts = async (): Promise<Facts> =>
      someFacts(100 + (performance.now() - this.#startMs) / 1_000, this.chains, {
        failed: this.calls,
      })
    const page = createLivePage(facts, systemClock, 'pod-1')
    this.#node = new MirrorNode('replica', ({ target }, response) => {
      const answer = (status: number, type: string, text: string) =>
        response.writeHead(status, { 'content-type': type }).end(text)
      const guid = /^\/explain\/([^?]+)/.exec(target)?.[1]
      if (target === '/') response.writeHead(200, page.headers).end(page.html)
      else if (target === '/events') {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        Readable.from(page.events()).pipe(response)
      } else if (target === '/facts')
        void facts().then((all) => answer(200, 'application/json', JSON.stringify(all)))
      else if (guid !== undefined) answer(200, 'text/plain', `why ${guid}:\nnode-b was asked first`)
      else answer(404, 'text/plain', 'not found')
    })
  }

  static async start(chains: readonly SomeChain[]): Promise<ScriptedReplica> {
    const replica = new ScriptedReplica(chains)
    await replica.#node.start()
    return replica
  }

  /** `host:port` */
  get address(): string {
    return new URL(this.#node.url).host
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#node[Symbol.asyncDispose]()
  }
}
