// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

/** A wire to a port of loopback that can fall silent without breaking, as when a host loses its power. */
export class SilentWire implements AsyncDisposable {
  readonly #sockets: Socket[] = []
  readonly #server: Server

  /** @param to the port at its other end, asked for with each connection */
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

  /** From here on nothing passes on the connections that there are, also not that they end. */
  fallSilent(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
