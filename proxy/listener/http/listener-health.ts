// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HttpExchange } from './http-exchange.ts'

/** Answers `GET /health` of a listener: whether it can serve, for load balancers. */
export function answerHealth(exchange: HttpExchange, isHealthy: boolean, version: string): void {
  const text = isHealthy ? 'Health status OK' : 'Unhealthy'
  const headers = ['Content-Type', 'text/plain', 'Router-Version', version]
  void exchange.respond(isHealthy ? 200 : 503, headers, Buffer.from(text))
}
