// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A loopback proxy that can go silent without closing, as when a host loses power. */
export class SilentWire implements AsyncDisposable {
  readonly #sockets: Socket[] = []
  readonly #server: Server

  /** @param to returns the target port for each connection */
  constructor(to: () => number) {
    this.#server = createServer((near) => {
      const far = connect(to(), '127.0.0.1')
      near.pipe(far).pipe(near)
      for (const socket of [near, far]) this.#sockets.push(socket.on('error', () => {}))
    })
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Stops all traffic on existing connections, including their closing. */
  fallSilent(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
