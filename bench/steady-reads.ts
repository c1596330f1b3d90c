// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { addressOf, balanceOf } from './balances.ts'

export interface SteadyReads {
  readonly url: string
  readonly perSecond: number
  readonly seconds: number
  /** Number of the first address, so that runs use distinct addresses. */
  readonly first: number
}

/**
 * Reads at a steady rate, where a slow answer delays no later read.
 * @returns latencies in milliseconds, each from the scheduled time of its read
 * @throws on a missing or wrong answer
 */
export async function readSteadily(plan: SteadyReads): Promise<Float64Array> {
  const count = Math.round(plan.perSecond * plan.seconds)
  const agent = new Agent({ keepAlive: true })
  const latenciesMs = new Float64Array(count)
  const errors: string[] = []
  const startedMs = performance.now()
  const ends: Promise<void>[] = []
  for (let index = 0; index < count; index++) {
    const dueMs = startedMs + (index * 1_000) / plan.perSecond
    const waitMs = dueMs - performance.now()
    if (waitMs > 1) await sleep(waitMs)
    const address = addressOf(plan.first + index)
    ends.push(
      read(plan.url, agent, index, address).then((answer) => {
        latenciesMs[index] = performance.now() - dueMs
        if (!answer.includes(`"result":"${balanceOf(address)}"`)) errors.push(answer.slice(0, 120))
      }),
    )
  }
  await Promise.all(ends)
  agent.destroy()
  if (errors.length > 0)
    throw new Error(`${errors.length} of ${count} reads failed, for example ${errors[0]}`)
  return latenciesMs.toSorted()
}

/** Resolves with the answer, or with the error message. */
function read(url: string, agent: Agent, id: number, address: string): Promise<string> {
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id },
    ...{ method: 'eth_getBalance', params: [address, 'latest'] },
  })
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  return new Promise((resolve) => {
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      let answer = ''
      response.on('data', (chunk: Buffer) => (answer += chunk.toString()))
      response.on('end', () => resolve(answer))
      response.on('error', ({ message }) => resolve(message))
    })
    asked.on('error', ({ message }) => resolve(message))
    asked.end(body)
  })
}
