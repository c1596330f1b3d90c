// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A request that a node received. */
export interface ReceivedRequest {
  readonly verb: string
  /** Raw path and query. */
  readonly target: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: Buffer
}

type Answer = (request: ReceivedRequest, response: ServerResponse) => unknown

/** An HTTP node that records its requests, with answers from the test. */
export class MirrorNode implements AsyncDisposable {
  readonly name: string
  readonly requests: ReceivedRequest[] = []
  answer: Answer
  readonly #server = createServer((request, response) => void this.#receive(request, response))

  constructor(name: string, answer: Answer) {
    this.name = name
    this.answer = answer
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method: verb = '', url: target = '', headers } = request
    const received = { verb, target, headers, body: await buffer(request) }
    this.requests.push(received)
    await this.answer(received, response)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    if (this.#server.listening) await this.#server[Symbol.asyncDispose]()
  }
}
