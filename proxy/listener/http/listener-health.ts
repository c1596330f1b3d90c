// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HttpExchange } from './http-exchange.ts'

export interface HealthAnswer {
  readonly status: number
  readonly text: string
}

/** What `GET /health` of a listener says: whether it can serve, for load balancers. */
export function healthAnswer(isHealthy: boolean): HealthAnswer {
  return isHealthy ? { status: 200, text: 'Health status OK' } : { status: 503, text: 'Unhealthy' }
}

export function answerHealth(exchange: HttpExchange, isHealthy: boolean, version: string): void {
  const { status, text } = healthAnswer(isHealthy)
  const headers = ['Content-Type', 'text/plain', 'Router-Version', version]
  void exchange.respond(status, headers, Buffer.from(text))
}
