// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { freePort } from '../../../../e2e/processes/free-ports.ts'
import { systemClock } from '../../../clock/clock.ts'
import { systemRandom } from '../../../clock/random.ts'
import { seededRandom } from '../../../clock/testing/seeded-random.ts'
import { CacheClient } from '../cache-client.ts'
import { CacheServer } from '../cache-server.ts'
import { CacheServiceStore } from '../cache-store.ts'

/** A cache service on loopback, in this process, and its clients. */
export class ServedCache implements AsyncDisposable {
  readonly store: CacheServiceStore
  readonly #server: CacheServer
  readonly #clients: CacheClient[] = []
  #isStopped = false
  port = 0
  /** One entry per call, such as `Get hit`. */
  readonly calls: string[] = []

  /** @param graceMs how long after its start the store stays closed to sessions */
  constructor(maxBytes = 1024 * 1024, graceMs = 0) {
    this.store = new CacheServiceStore(maxBytes, systemClock, systemRandom, graceMs)
    this.#server = new CacheServer(this.store, (call, verdict) => {
      this.calls.push(`${call} ${verdict}`)
    })
  }

  /** Uses a port outside the ephemeral range, so that no connection takes it in the meantime. */
  async start(fixedPort?: number): Promise<this> {
    const port = fixedPort ?? (await freePort())
    this.port = await this.#server.start(`127.0.0.1:${port}`)
    return this
  }

  /** Busy machines are slow, so the default timeout is longer than a router's. */
  client(
    commandTimeoutMs = 5_000,
    onChange: (error: Error | null) => void = () => {},
  ): CacheClient {
    const client = clientOf(this.port, commandTimeoutMs, onChange)
    this.#clients.push(client)
    return client
  }

  async stop(drainMs = 5_000): Promise<boolean> {
    if (this.#isStopped) return true
    this.#isStopped = true
    return this.#server.stop(systemClock, drainMs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.stop(1)
  }
}

export function clientOf(
  port: number,
  commandTimeoutMs: number,
  onChange: (error: Error | null) => void = () => {},
): CacheClient {
  const options = { clock: systemClock, random: seededRandom(1), commandTimeoutMs, onChange }
  return new CacheClient(`127.0.0.1:${port}`, options)
}
