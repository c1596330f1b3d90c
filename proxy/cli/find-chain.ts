// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ByteBudget } from '../bytes/byte-budget.ts'
import type { Chain, ChainCatalog, ChainInterface, ProbeCall } from '../chain/types.ts'
import { systemClock } from '../clock/clock.ts'
import { type Problem, problemAt } from '../config/problem.ts'
import type { FlagValues } from '../config/settings.ts'
import type { ApiInterface, NodeUrlConfig } from '../config/types.ts'
import { checkConfig } from '../router/checked-config.ts'
import { transportsOf } from '../router/served-chain.ts'
import { dialects } from '../upstream/dialect.ts'
import { Cooldown } from '../upstream/health.ts'
import { NodeUrl } from '../upstream/node-url.ts'
import { probe } from '../upstream/probe.ts'
import type { CommandIo } from './validate.ts'

/** A chain and the interface through which a node reported it. */
export interface FoundChain {
  readonly id: string
  readonly name: string
  readonly apiInterface: ApiInterface
}

/** A request that tells chains apart, and the chains by the answers that they expect. */
interface ChainQuestion {
  readonly chain: Chain
  readonly iface: ChainInterface
  readonly call: ProbeCall
  readonly chains: Map<string, Chain>
}

const mostBytes = 1024 * 1024
const mostMs = 3_000

/**
 * Asks the first HTTP or gRPC URL for its chain.
 * @returns a problem if the URL is wrong, or reports no chain that is known
 */
export async function chainAt(
  urls: readonly string[],
  flags: FlagValues,
  io: CommandIo,
): Promise<FoundChain | Problem> {
  const url = urls.find((each) => !/^wss?:/i.test(each)) ?? urls[0] ?? ''
  const isGrpc = /^grpcs?:/i.test(url)
  // Any chain with the interface does: the config only serves to render and parse the URL.
  const chainId = isGrpc ? 'HUBCHAIN' : 'ETH1'
  const upstream = { name: 'node', 'chain-id': chainId, 'node-urls': [url] }
  const text = JSON.stringify({ 'direct-rpc': [upstream] })
  const { environment } = io
  const flagOf = () => '--url'
  const checked = await checkConfig({ configPath: '', text, flags, environment, flagOf })
  const { config, catalog, problems } = checked
  const nodeUrl = config?.upstreams[0]?.nodeUrls[0]
  const found = nodeUrl && catalog && (await identify(nodeUrl, isGrpc, catalog))
  if (found) return found
  const [problem] = nodeUrl ? [] : problems
  const hint = 'Name it, such as --chain ETH1; then router doctor says what is wrong with the URL.'
  const message = `the chain is missing, and ${String(nodeUrl?.url)} does not report one that is known`
  return problem ?? problemAt('--chain', null, message, hint)
}

/**
 * Identifies the chain of a node with the requests by which the chain specs verify nodes, such as
 * `eth_chainId`.
 * @returns null if the node reports no chain that is known; any EVM chain is
 */
export async function identify(
  config: NodeUrlConfig,
  isGrpc: boolean,
  catalog: ChainCatalog,
): Promise<FoundChain | null> {
  for (const question of questionsOf(catalog)) {
    const { chain, chains, iface } = question
    const { apiInterface } = iface
    if ((apiInterface === 'grpc') !== isGrpc) continue
    const value = await answerOf(config, question)
    if (value === undefined) break
    const found =
      chain.family === 'evm' ? catalog.find(`evm:${Number(value)}`) : chains.get(value ?? '')
    if (found) return { id: found.id, name: found.name, apiInterface }
  }
  return null
}

/** The distinct requests for a chain's identity; Ethereum's first. */
function questionsOf(catalog: ChainCatalog): Iterable<ChainQuestion> {
  const questions = new Map<string, ChainQuestion>()
  const ids = new Set(['ETH1', ...catalog.ids])
  for (const chain of [...ids].flatMap((id) => catalog.find(id) ?? []))
    for (const iface of chain.interfaces.values()) {
      const verification = iface.verifications.find(({ name }) => name === 'chain-id')
      if (!verification?.expected || verification.addon !== null) continue
      const { verb, path, body } = verification.call
      const key = [iface.apiInterface, verb, path, body].join(' ')
      questions
        .getOrInsertComputed(key, () => ({
          chain,
          iface,
          call: verification.call,
          chains: new Map(),
        }))
        .chains.getOrInsert(verification.expected, chain)
    }
  return questions.values()
}

/** The answer as text; null if there is none, undefined if the node hangs. */
async function answerOf(config: NodeUrlConfig, { chain, iface, call }: ChainQuestion) {
  const context = { clock: systemClock, budget: new ByteBudget(mostBytes), version: '' }
  const isSocket = config.scheme.startsWith('ws')
  const { createTransport, createSocketTransport } = transportsOf(iface.apiInterface, context)
  const transport = (isSocket ? createSocketTransport : createTransport)(config)
  const signal = AbortSignal.timeout(mostMs)
  try {
    const url = new NodeUrl(config, transport, new Cooldown(systemClock, null))
    const dialect = dialects[iface.apiInterface]
    const options = { dialect, clock: systemClock, failures: chain.failures, signal }
    const answer = await probe(url, call, options)
    return answer.kind === 'value' ? String(answer.value) : null
  } catch (error) {
    if (signal.aborted) return undefined
    throw error
  } finally {
    await transport.close()
  }
}
