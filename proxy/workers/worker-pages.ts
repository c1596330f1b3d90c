// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Pool } from 'undici'

/** How long a worker may take to answer. */
const mostMs = 2_000

/** The pages of one worker, read over its unix socket. */
export class WorkerPages {
  readonly number: number
  readonly #pool: Pool

  constructor(number: number, socketPath: string) {
    this.number = number
    this.#pool = new Pool('http://localhost', { socketPath, connections: 4, pipelining: 1 })
  }

  /** @returns null if the worker does not answer */
  async read(path: string): Promise<{ readonly status: number; readonly text: string } | null> {
    try {
      const signal = AbortSignal.timeout(mostMs)
      const { statusCode, body } = await this.#pool.request({ path, method: 'GET', signal })
      return { status: statusCode, text: await body.text() }
    } catch {
      return null
    }
  }

  close(): void {
    void this.#pool.destroy()
  }
}
