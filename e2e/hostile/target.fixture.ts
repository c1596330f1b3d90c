// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { Agent, request } from 'undici'
import { rawCall } from '../grpc/raw-call.ts'
import { framed } from '../grpc/raw-node.ts'
import { type HostileRouter, startHostileRouter } from './hostile-router.fixture.ts'

/** A router with honest nodes, and its innocent client. */
export interface Target extends AsyncDisposable {
  readonly router: HostileRouter
  /** The honest nodes. */
  readonly upstreams: readonly string[]
  /** Sends one call of the innocent client. Returns the fault of the answer, or null. */
  readonly ask: () => Promise<string | null>
}

const everyMs = 25

export async function startJsonRpcTarget(): Promise<Target> {
  const stack = new AsyncDisposableStack()
  const router = stack.use(await startHostileRouter('jsonrpc'))
  const dispatcher = stack.adopt(new Agent({ connections: 16 }), (agent) => agent.close())
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_chainId', params: [] })
  // The odd node is busy, and would delay its answers.
  const headers = { 'content-type': 'application/json', 'rpc-providers-block': 'odd' }
  return {
    ...{ router, upstreams: ['a', 'b', 'c'] },
    ask: async () => {
      const reply = await request(router.url, { method: 'POST', headers, body, dispatcher })
      const text = await reply.body.text()
      return text === '{"jsonrpc":"2.0","id":7,"result":"0x1"}' ? null : text
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

export async function startGrpcTarget(): Promise<Target> {
  const chain = { chainId: 'ECHO', apiInterface: 'grpc' } as const
  const spec = fileURLToPath(new URL('../grpc/echo.yml', import.meta.url))
  const router = await startHostileRouter('grpc', chain, { 'use-static-spec': [spec] })
  return {
    ...{ router, upstreams: ['a', 'b'] },
    ask: async () => {
      const { body, trailers } = await rawCall(router.port, '/test.Echo/Unary')
      return body.equals(framed('hello')) ? null : trailers.join(' ')
    },
    [Symbol.asyncDispose]: () => router[Symbol.asyncDispose](),
  }
}

/**
 * Attacks in turn while the innocent client sends 40 calls a second: none of them may fail, and no
 * honest node may leave service. @returns latencies of the calls, and the router's peak memory
 */
export async function expectHarmless(
  { router, upstreams, ask }: Target,
  attacks: readonly string[],
  seconds: number,
): Promise<{ latenciesMs: readonly number[]; peakBytes: number }> {
  const { lost, latenciesMs } = await askUntil(router.attack(attacks, seconds), ask)
  expect(router.child.alive, router.child.tail()).toBe(true)
  expect(lost).toEqual([])
  expect(latenciesMs.length).toBeGreaterThan(1)
  const metrics = await router.metrics()
  for (const state of statesIn(metrics, upstreams)) expect(['eligible', 'lagging']).toContain(state)
  for (const name of upstreams) {
    const changes = new RegExp(`changes_total\\{.*"${name}",to="(disabled|cooldown)"\\} [1-9]`)
    expect(metrics).not.toMatch(changes)
  }
  return { latenciesMs, peakBytes: router.footprint().peakBytes }
}

async function askUntil(over: Promise<void>, ask: () => Promise<string | null>) {
  let isOver = false
  void over.then(() => (isOver = true))
  const lost: string[] = []
  const latenciesMs: number[] = []
  const calls: Promise<void>[] = []
  const one = async () => {
    const startedMs = performance.now()
    const wrong = await ask().catch(String)
    if (wrong !== null) lost.push(wrong)
    latenciesMs.push(performance.now() - startedMs)
  }
  while (!isOver) {
    calls.push(one())
    await sleep(everyMs)
  }
  await Promise.all(calls)
  return { lost, latenciesMs }
}

/** The states of these upstreams. */
function statesIn(metrics: string, names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const one = new RegExp(`^router_upstream_state\\{.*upstream="${name}".* 1$`, 'm')
    return /state="([^"]+)"/.exec(one.exec(metrics)?.[0] ?? '')?.[1] ?? 'unknown'
  })
}
