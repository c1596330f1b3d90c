// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface, ProbeCall } from '../../chain/types.ts'
import { within } from '../../clock/cancellation.ts'
import type { NodeUrlConfig, UpstreamConfig } from '../../config/types.ts'
import { familyOf } from '../../subscription/families/family-of.ts'
import { dialects, toBlockNumber } from '../../upstream/dialect.ts'
import { Availability, Cooldown } from '../../upstream/health.ts'
import { type Finding, isTrouble, probe, verifyUrl } from '../../upstream/probe.ts'
import type { ProbeAnswer, ProbeTrouble } from '../../upstream/probe.ts'
import { NodeUrl, Upstream } from '../../upstream/upstream.ts'
import { type ServedChainParts, transportsOf } from '../served-chain.ts'

/** One URL of the config. */
export interface Subject {
  /** `config.yml:12` */
  readonly place: string
  readonly upstream: UpstreamConfig
  readonly config: NodeUrlConfig
  readonly chain: Chain
  readonly iface: ChainInterface
}

/** What only the doctor asks. Null: not known. */
interface Seen {
  /** Why it could not be asked, or not to the end; null: it was. */
  trouble: ProbeTrouble | 'out-of-time' | null
  /** The least time of an answer over a connection that is open, in milliseconds. */
  latencyMs: number | null
  /** How many blocks behind the head it has state of at least. */
  archive: number | 'all' | null
  /** `yes`, or why not; null also of what has no subscriptions. */
  subscribes: string | null
}

/** A URL with what it has shown. Holds no key and no payload but the values that verifications are about. */
export type Examined = Subject & Awaited<ReturnType<typeof examine>>
type Ask = (call: ProbeCall) => Promise<ProbeAnswer>

/** One URL is asked for no longer than this. */
const maxMs = 30_000
const latencySamples = 3
/** How deep it is asked for old state where it does not have all, the deepest first. */
const depths = [1_000_000, 100_000, 10_000, 1_000, 100]

/**
 * Verifies one URL as the router does, and asks it more. Never rejects for what a node does.
 * @returns beside the rest the URL as the router left it
 * @throws TlsFileError
 */
export async function examine(
  { upstream, config, chain, iface }: Subject,
  parts: Pick<ServedChainParts, 'clock' | 'budget' | 'version'>,
) {
  const { clock } = parts
  const { apiInterface, latestBlock } = iface
  const isOfSocket = ({ scheme }: NodeUrlConfig) => scheme.startsWith('ws')
  const isSocket = isOfSocket(config)
  const servesCalls = !isSocket || upstream.nodeUrls.every(isOfSocket)
  const { createTransport, createSocketTransport } = transportsOf(apiInterface, parts)
  const transport = (isSocket ? createSocketTransport : createTransport)(config)
  const url = new NodeUrl(config, transport, new Cooldown(clock, null))
  const urls = { urls: servesCalls ? [url] : [], sockets: [] }
  const owner = new Upstream(upstream, urls, new Availability(1, () => {}), clock)
  const findings: Finding[] = []
  const seen: Seen = { trouble: null, latencyMs: null, archive: null, subscribes: null }
  const run = async (signal: AbortSignal) => {
    const dialect = dialects[apiInterface]
    const probing = { dialect, clock, failures: chain.failures, signal }
    const ask: Ask = (call) => probe(url, call, probing)
    const found = (finding: Finding) => findings.push(finding)
    const verifying = { ...probing, observer: { verificationFailed() {} }, found }
    await verifyUrl(owner, url, { ...verifying, iface })
    // It ends as soon as the URL itself is in trouble: the other questions would show no more.
    const last = findings.at(-1)?.answer
    if (url.verified === null && last && isTrouble(last)) seen.trouble = last
    for (let left = latencySamples; latestBlock && seen.trouble === null && left > 0; left--) {
      const askedMs = clock.nowMs()
      const answer = await ask(latestBlock)
      if (isTrouble(answer)) seen.trouble = answer
      // A URL for subscriptions alone need not know the method.
      if (answer.kind !== 'value') break
      const atMs = clock.nowMs()
      const tookMs = Math.round((atMs - askedMs) * 10) / 10
      seen.latencyMs = Math.min(seen.latencyMs ?? Infinity, tookMs)
      const block = toBlockNumber(answer.value, latestBlock.result.encoding)
      if (block !== null) url.head = { block, atMs }
    }
    if (seen.trouble !== null || url.verified === false) return
    // What becomes of the add-ons that it does not declare is no concern of the router.
    const addons = [...iface.addons.difference(new Set(config.addons))]
    const other = new NodeUrl({ ...config, addons }, transport, new Cooldown(clock, null))
    const verifications = iface.verifications.filter(({ addon }) => addon !== null)
    await verifyUrl(owner, other, { ...verifying, iface: { ...iface, verifications } })
    seen.archive = await findDepth(url, findings, iface, ask)
    const nothing = () => Promise.reject(new Error('nothing is asked'))
    const { head, readers } = familyOf(chain, iface, nothing, clock)
    const request = isSocket && head !== null ? readers[head]?.request : undefined
    if (!request) return
    // It ends with the connection.
    const question = jsonRpc(request.method, request.params)
    const joined = await ask({ verb: 'POST', path: '', timeoutMs: null, ...question })
    seen.subscribes = joined.kind === 'value' ? 'yes' : joined.why
  }
  const outOfTime = new Error('out of time')
  try {
    await within(clock, new AbortController().signal, maxMs, run, () => outOfTime)
  } catch (error) {
    if (error !== outOfTime) throw error
    seen.trouble = 'out-of-time'
  } finally {
    await transport.close()
  }
  return { url, findings, servesCalls, ...seen }
}

/** How much old state it has. */
async function findDepth(
  { head }: NodeUrl,
  findings: readonly Finding[],
  { methods }: ChainInterface,
  ask: Ask,
): Promise<Seen['archive']> {
  const archive = findings.find(({ verification }) => verification.addon === 'archive')
  if (!archive || !head) return null
  const { answer, why, verification } = archive
  if (why === null) return 'all'
  // Some name their earliest block.
  const value = answer.kind === 'value' ? answer.value : null
  const earliest = toBlockNumber(value, verification.call.result.encoding)
  if (earliest !== null) return Math.max(0, head.block - earliest)
  if (!methods.has('eth_getBalance')) return null
  for (const depth of depths.filter((each) => each < head.block)) {
    const height = `0x${(head.block - depth).toString(16)}`
    const question = jsonRpc('eth_getBalance', [`0x${'0'.repeat(40)}`, height])
    const deep = await ask({ ...verification.call, ...question })
    if (deep.kind === 'value') return depth
  }
  return 0
}

function jsonRpc(method: string, params: unknown): Pick<ProbeCall, 'body' | 'result'> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  return { body, result: { path: [], encoding: 'text' } }
}
