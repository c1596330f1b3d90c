// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { toQuantity } from '../../json/values.ts'
import { titleOf } from '../../chain/title.ts'
import type { Chain, ChainInterface, ProbeCall } from '../../chain/types.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../../config/types.ts'
import { time } from '../../telemetry/format.ts'
import { familyOf } from '../../subscription/family-of.ts'
import { dialects, toBlockNumber } from '../../upstream/dialect.ts'
import { Availability, Cooldown } from '../../upstream/health.ts'
import type { UrlVerification, ProbeTrouble } from '../../upstream/probe.ts'
import { isTrouble, probe, verifyUrl } from '../../upstream/probe.ts'
import { askStatus } from '../../upstream/status.ts'
import { Upstream } from '../../upstream/upstream.ts'
import { type ServedChainContext, transportsOf } from '../../router/served-chain.ts'
import { identify } from '../find-chain.ts'
import { certificateEnd } from './certificate-end.ts'
import { testNodeOf } from './test-node.ts'
import { NodeUrl } from '../../upstream/node-url.ts'

/** One URL of the config. */
interface Subject {
  readonly upstream: UpstreamConfig
  readonly config: NodeUrlConfig
  readonly chain: Chain
  readonly iface: ChainInterface
}

/** A URL and its results, without keys, and without payload except verified values. */
export type Examined = Awaited<ReturnType<typeof examine>>

/** Remedies by failure name from `specs/failures` and context. The first match wins. */
const remedies: readonly (readonly [failure: RegExp, words: string])[] = [
  [/^connection-refused/, 'nothing listens there: is the node up, are host and port right?'],
  [/^name-not-resolved/, 'there is no such host: correct the URL'],
  [/self-signed|unknown authority/, 'name its authority in auth-config.tls.ca-file'],
  [/certificate (?:has expired|is not valid yet)/, 'renew the certificate of the node'],
  [/another name/, 'name the right host, or auth-config.tls.server-name'],
  [/does not speak TLS/, 'write http, ws or grpc instead of https, wss or grpcs'],
  [/client certificate/, 'name one in auth-config.tls.cert-file and key-file'],
  [/unauthorized|HTTP 40[13]/, 'the key is refused: correct it, in the URL or in auth-config'],
  [/redirects to/, 'write the URL that it redirects to: the router follows no redirects'],
  [/-not-found/, 'nothing is served at this path: correct the path of the URL'],
  [/timeout/, 'is the node overloaded, or a firewall between?'],
  [/quota|limit/, 'it refuses more calls now: ask again later, or raise the plan at the provider'],
  [/./, 'is it a URL for the api-interface of its upstream?'],
]

/** Depths at which to probe a URL without full history, deepest first. */
const depths = [1_000_000, 100_000, 10_000, 1_000, 100]
const isOfSocket = ({ scheme }: NodeUrlConfig) => scheme.startsWith('ws')

/**
 * Verifies one URL as the router does, and probes it further. Never rejects for node failures.
 * @returns the URL's router state, its table cells, necessary config changes (`changes`), and
 * `notes`
 * @throws TlsFileError
 */
export async function examine(
  subject: Subject,
  context: Pick<ServedChainContext, 'clock' | 'budget' | 'version' | 'catalog'>,
) {
  const { upstream, config, chain, iface } = subject
  const { clock } = context
  const isSocket = isOfSocket(config)
  // Next to a URL for calls, a WebSocket URL serves only subscriptions.
  const servesCalls = !isSocket || upstream.nodeUrls.every(isOfSocket)
  const { createTransport, createSocketTransport } = transportsOf(iface.apiInterface, context)
  const transport = (isSocket ? createSocketTransport : createTransport)(config)
  const url = new NodeUrl(config, transport, new Cooldown(clock, null))
  const urls = { urls: servesCalls ? [url] : [], sockets: [] }
  const owner = new Upstream(upstream, urls, new Availability(1, () => {}), clock)
  const results: UrlVerification[] = []
  const verifying = {
    ...{ iface, dialect: dialects[iface.apiInterface], clock, failures: chain.failures },
    ...{ signal: new AbortController().signal, observer: { verificationFailed() {} } },
    found: (result: UrlVerification) => void results.push(result),
  }
  const ask = (call: ProbeCall) => probe(url, call, verifying)
  const changes: string[] = []
  const notes: string[] = []
  const cells = {
    ...{ UPSTREAM: upstream.name, CHAIN: `${chain.id} ${iface.apiInterface}`, URL: url.printable },
    ...{ 'CHAIN ID': '-', HEIGHT: '-', LATENCY: '-', ARCHIVE: '-', SUBSCRIBE: '-', 'ADD-ONS': '-' },
  }
  const examined = { ...subject, owner, url, cells, changes, notes }
  try {
    await verifyUrl(owner, url, verifying)
    // Check that it answers, how fast, and at which height.
    const { latestBlock } = iface
    let trouble: ProbeTrouble | null = null
    let leastMs = Infinity
    for (let left = 3; latestBlock && left > 0; left--) {
      const askedMs = clock.nowMs()
      const answer = await ask(latestBlock)
      if (isTrouble(answer)) trouble = answer
      if (answer.kind !== 'value') break
      const atMs = clock.nowMs()
      leastMs = Math.min(leastMs, atMs - askedMs)
      cells.LATENCY = time(leastMs / 1_000)
      const block = toBlockNumber(answer.value, latestBlock.result.encoding)
      cells.HEIGHT = String(block ?? '-')
      if (block !== null && url.verified === true) url.head = { block, atMs }
    }
    if (trouble !== null) {
      const { why } = trouble
      const [, words] = remedies.find(([of]) => of.test(why)) ?? []
      const isDated = /certificate (?:has expired|is not valid yet)/.test(why)
      const end =
        isDated && (await certificateEnd(url.printable, config.tls?.['server-name'] ?? null))
      changes.push(`${why}${end ? `, valid until ${end}` : ''}: ${words}`)
    }
    // Check the chain and the spec's other verifications.
    for (const { verification, answer, why } of results) {
      const { name, addon, severity } = verification
      const isOfChain = name === 'chain-id' && answer.kind === 'value'
      if (isOfChain) cells['CHAIN ID'] = why === null ? 'ok' : String(answer.value).slice(0, 12)
      if (addon !== null || why === null || (trouble && isTrouble(answer))) continue
      if (severity === 'warn') notes.push(`${name}: ${why}`)
      else {
        const isGrpc = iface.apiInterface === 'grpc'
        const found = name === 'chain-id' && (await identify(config, isGrpc, context.catalog))
        const other = found && found.id !== chain.id ? titleOf(found) : null
        const words =
          other === null ? 'wrong chain' : `this answers ${other}, not ${titleOf(chain)}`
        const remedy = 'correct the URL, or the chain-id of the upstream'
        changes.push(other || isOfChain ? `${words} (${why}): ${remedy}` : `${name}: ${why}`)
      }
    }
    const result = async (method: string) => {
      const answer = await ask(jsonRpc(method, []))
      return answer.kind === 'value' ? answer.value : null
    }
    const mayCache = chain.cacheable && chain.family === 'evm' && !trouble
    const test = mayCache && (await testNodeOf(result, context.catalog))
    if (test) {
      const stale = `its state changes without a block, and ${chain.id} caches answers`
      notes.push(`is a test node (${test.words}): ${stale}; write chain-id: ${test.chain.id}`)
    }
    if (trouble || url.verified !== true) return examined
    owner.status = await askStatus(url, iface, verifying)
    if (owner.status.isSyncing) notes.push('says that it is syncing')
    const oldest = url.history.oldest('blocks')
    if (oldest > 1) notes.push(`has pruned the blocks before ${oldest}`)

    // The router itself never probes add-ons that the URL does not declare.
    const addons = [...iface.addons.difference(new Set(config.addons))]
    const other = new NodeUrl({ ...config, addons }, transport, new Cooldown(clock, null))
    const verifications = iface.verifications.filter(({ addon }) => addon !== null)
    await verifyUrl(owner, other, { ...verifying, iface: { ...iface, verifications } })
    const archive = results.find(({ verification }) => verification.addon === 'archive')
    const depth = archive && url.head && (await findDepth(archive, url.head.block, iface, ask))
    cells.ARCHIVE = depth ?? '-'
    const served: string[] = []
    for (const addon of iface.addons) {
      const own = results.filter(({ verification }) => verification.addon === addon)
      const why = own.find((each) => each.why !== null)?.why
      const isServed = own.length > 0 && why === undefined
      if (isServed) served.push(addon)
      if (isServed && servesCalls && !config.addons.includes(addon))
        notes.push(`serves ${addon}, which is not declared: add it to addons to have it used`)
      if (why === undefined || !config.addons.includes(addon)) continue
      if (url.openAddons.has(addon))
        changes.push(`declares ${addon}, and could not be asked about it (${why})`)
      else if (!url.addons.has(addon))
        changes.push(`declares ${addon}, does not serve it (${why}): remove the add-on`)
      else {
        // The router keeps a URL that fails only warnings. For an archive, the depth probe decides.
        const lines = addon === 'archive' && depth ? changes : notes
        lines.push(`declares ${addon}, does not show it (${why}), and is used for it all the same`)
      }
    }
    if (served.length > 0) cells['ADD-ONS'] = served.join(', ')

    const nothing = () => Promise.reject(new Error('nothing is asked'))
    const { head, readers } = familyOf(chain, iface, nothing, clock)
    const request = isSocket && head !== null ? readers[head]?.request : undefined
    if (request) {
      // The subscription ends with its connection.
      const answer = await ask(jsonRpc(request.method, request.params))
      cells.SUBSCRIBE = answer.kind === 'value' ? 'yes' : 'no'
      if (answer.kind !== 'value')
        changes.push(`subscriptions do not work (${answer.why}): remove this WebSocket URL`)
    }
    return examined
  } finally {
    await transport.close()
  }
}

/** Depth of the URL's old state: `all`, `last 1000+`, `none`; null if it cannot be probed. */
async function findDepth(
  { answer, why, verification }: UrlVerification,
  head: number,
  { methods }: ChainInterface,
  ask: (call: ProbeCall) => ReturnType<typeof probe>,
): Promise<string | null> {
  if (why === null) return 'all'
  // Some nodes report their earliest block.
  const value = answer.kind === 'value' ? answer.value : null
  const earliest = toBlockNumber(value, verification.call.result.encoding)
  if (earliest !== null) return `last ${Math.max(0, head - earliest)}+`
  if (!methods.has('eth_getBalance')) return null
  for (const depth of depths.filter((each) => each < head)) {
    const height = toQuantity(head - depth)
    const deep = await ask(jsonRpc('eth_getBalance', [`0x${'0'.repeat(40)}`, height]))
    if (deep.kind === 'value') return `last ${depth}+`
  }
  return 'none'
}

function jsonRpc(method: string, params: unknown): ProbeCall {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return { verb: 'POST', path: '', timeoutMs: null, body, result: { path: [], encoding: 'text' } }
}
