// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseAbiItem, toEventSelector } from 'viem'
import { startAnvil } from '../nodes/anvil.ts'
import { ChildProcesses } from '../processes/child-processes.ts'
import { freePort } from '../processes/free-ports.ts'
import { askRpc } from '../processes/rpc-client.ts'
import { createWorkspace } from '../program/workspace.ts'
import { serveRouter } from '../served/served-router.ts'

export const rung = parseAbiItem('event Rung(uint256 indexed bell, uint256 value)')
const topic = toEventSelector(rung)
/** Contracts that emit a log per call, with its topics and data from the input. */
export const bells = ['be', 'b1', 'b2'].map((byte) => `0x${byte.repeat(20)}` as const)
const code = '0x60403560005260203560003560206000a200'
const word = (number: number) => number.toString(16).padStart(64, '0')

/** A range that a provider accepts, and how it refuses a longer one. */
interface Provider {
  readonly blocks: number
  readonly words: (blocks: number) => string
}

const providers: Readonly<Record<string, Provider>> = {
  a: { blocks: 1_000, words: (most) => `exceeds the range allowed for your plan (9999 > ${most})` },
  b: { blocks: 500, words: (most) => `eth_getLogs is limited to a ${most} blocks range` },
  c: { blocks: 200, words: (most) => `please limit the query to at most ${most} blocks` },
}

/** A real node whose contracts emit numbered events, behind providers that limit ranges. */
async function startBellChain(
  stack: AsyncDisposableStack,
  all: Readonly<Record<string, Provider>> = providers,
) {
  const stop = new AbortController()
  stack.defer(() => {
    stop.abort()
  })
  const children = stack.use(new ChildProcesses(stack.use(await createWorkspace()).directory))
  const { url } = await startAnvil({
    ...{ name: 'one', port: await freePort(), chainId: 1, children, signal: stop.signal },
  })
  for (const bell of bells) await askRpc(url, 'anvil_setCode', [bell, code])
  const [from] = await askRpc<string[]>(url, 'eth_accounts')
  const chain = {
    url,
    /** Events so far; their values are 1, 2, 3. */
    events: 0,
    /** Ranges that the providers were asked for. */
    asked: [] as { readonly name: string; readonly isRefused: boolean }[],
    /** Runs before a provider answers a query for logs. */
    beforeLogs: async () => {},
    async ring(times: number) {
      for (let each = 0; each < times; each++) {
        chain.events += 1
        const data = `${topic}${word(chain.events % 7)}${word(chain.events)}`
        const to = bells[chain.events % bells.length]
        await askRpc(url, 'eth_sendTransaction', [{ from, to, gas: '0x186a0', data }])
      }
    },
    mine: (blocks: number) => askRpc(url, 'anvil_mine', [`0x${blocks.toString(16)}`]),
  }
  const serve = async ([name, { blocks, words }]: [string, Provider]) => {
    const server = createServer((request, response) => {
      void (async () => {
        let body = ''
        for await (const piece of request) body += String(piece)
        const { id, method, params } = JSON.parse(body) as {
          readonly id: unknown
          readonly method: string
          readonly params: readonly [{ fromBlock: string; toBlock: string }]
        }
        response.setHeader('content-type', 'application/json')
        if (method === 'eth_getLogs') {
          const [{ fromBlock, toBlock }] = params
          const isRefused = Number(toBlock) - Number(fromBlock) >= blocks
          chain.asked.push({ name, isRefused })
          await chain.beforeLogs()
          const error = { code: -32602, message: words(blocks) }
          if (isRefused) return response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
        }
        const headers = { 'content-type': 'application/json' }
        response.end(await (await fetch(url, { method: 'POST', headers, body })).text())
      })()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stack.defer(async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })
    return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  }
  return { chain, nodes: await Promise.all(Object.entries(all).map(serve)) }
}

/** A router before providers with limits, whose final blocks are compared. */
export async function serveBells(
  stack: AsyncDisposableStack,
  all?: Readonly<Record<string, Provider>>,
) {
  const { chain, nodes } = await startBellChain(stack, all)
  const own = { 'skip-verifications': ['*'], 'max-batch': 1 }
  const serve = async () =>
    stack.use(
      await serveRouter({
        primaries: nodes,
        urlSettings: Object.fromEntries(nodes.map(({ name }) => [name, own])),
        settings: { logs: { verify: 'always' } },
      }),
    )
  return { chain, serve }
}
