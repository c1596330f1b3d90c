// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ChainCatalog } from '../../chain/types.ts'
import type { Finding } from '../../upstream/probe.ts'
import { tipOf } from '../../upstream/tip.ts'
import type { Examined } from './examine.ts'

/** What to do about a URL. */
interface Advice {
  /** `change`: it does not work as the config has it; `note`: it works, and there is something to know. */
  readonly severity: 'change' | 'note'
  readonly message: string
}
const change = (message: string): Advice => ({ severity: 'change', message })
const note = (message: string): Advice => ({ severity: 'note', message })

/** One URL, as the document for programs has it. Null: not known. */
export type Row = ReturnType<typeof diagnose>[number]

/** What helps, by a failure's name in `specs/failures` and what is known beside it; the first that matches. */
const remedies: readonly (readonly [failure: RegExp, words: string])[] = [
  [/^connection-refused/, 'nothing listens there: is the node up, are host and port right?'],
  [/^name-not-resolved/, 'there is no such host: correct the URL'],
  [/self-signed|unknown authority/, 'name its authority in auth-config.tls.ca-file'],
  [/another name/, 'name the right host, or auth-config.tls.server-name'],
  [/does not speak TLS/, 'write http, ws or grpc instead of https, wss or grpcs'],
  [/client certificate/, 'name one in auth-config.tls.cert-file and key-file'],
  [/^tls-failed/, 'put the TLS of the node right'],
  [/unauthorized|HTTP 40[13]/, 'the key is refused: correct it, in the URL or in auth-config'],
  [/-not-found/, 'nothing is served at this path: correct the path of the URL'],
  [/^http-redirect/, 'it leads elsewhere: name the URL that it leads to'],
  [/timeout/, 'no answer in time: is the node overloaded, or a firewall between?'],
  [/^payment|quota/, 'its plan is used up: raise it at the provider'],
  [/limit/, 'it refuses more calls now: ask again later, or raise the plan at the provider'],
]

/** Judges the URLs of one chain and interface: each by itself, and by the tip that they show together. Pure. */
export function diagnose(all: readonly Examined[], catalog: ChainCatalog) {
  const heads = all.flatMap(({ url: { verified, head } }) =>
    verified === true && head ? [{ ...head, roseMs: head.atMs }] : [],
  )
  const nowMs = Math.max(0, ...heads.map(({ atMs }) => atMs))
  return all.map((each) => {
    const { chain, iface, url, findings, subscribes } = each
    const tip = tipOf(heads, null, chain, nowMs)
    let behindBlocks: number | null = null
    if (url.head && tip !== null && url.verified === true) {
      // One that was asked a while before the last one is not behind for that.
      const grown = Math.floor((nowMs - url.head.atMs) / chain.blockTimeMs)
      behindBlocks = Math.max(0, tip - url.head.block - grown)
    }
    const advice = [...ofTrouble(each), ...ofFindings(each, catalog)]
    if (behindBlocks !== null && behindBlocks > chain.allowedLagBlocks)
      advice.push(
        change(`behind by ${behindBlocks} blocks: is it in sync? Until it is, others are asked`),
      )
    const addons = url.verified === true ? [...iface.addons] : []
    const servedAddons = addons.filter((addon) => serves(addon, findings))
    advice.push(...addons.flatMap((addon) => ofAddon(addon, each)))
    if (subscribes !== null && subscribes !== 'yes')
      advice.push(change(`subscriptions do not work (${subscribes}): remove this WebSocket URL`))
    const identity = findings.find(({ verification }) => verification.name === 'chain-id')
    return {
      // Nothing about it must change.
      ok: advice.every(({ severity }) => severity !== 'change'),
      ...{ chain: chain.id, interface: iface.apiInterface, upstream: each.upstream.name },
      ...{ url: url.printable, place: each.place },
      chainSaid: identity?.why === null ? 'ok' : (said(identity)?.slice(0, 12) ?? null),
      ...{ height: url.head?.block ?? null, behindBlocks, latencyMs: each.latencyMs },
      ...{ archive: each.archive, subscribes },
      ...{ servedAddons, advice },
    }
  })
}

function ofTrouble({ trouble, iface }: Examined): Advice[] {
  if (trouble === null) return []
  if (trouble === 'out-of-time') return [change('too slow: it was not asked to the end')]
  const { failure, why } = trouble
  const known = failure.name.includes(why) ? failure.name : `${failure.name}, ${why}`
  const [, words] = remedies.find(([each]) => each.test(known)) ?? []
  return [change(`${known}: ${words ?? `is it a URL for ${iface.apiInterface}?`}`)]
}

/** What it fails of all that does not belong to an add-on. */
function ofFindings({ findings, trouble, iface }: Examined, catalog: ChainCatalog): Advice[] {
  return findings.flatMap((finding) => {
    const { verification, answer, why } = finding
    const { name, addon, severity } = verification
    const value = said(finding)
    if (addon !== null || why === null || answer === trouble) return []
    if (severity === 'warn') return [note(`${name}: ${why}`)]
    if (name !== 'chain-id' || value === undefined) return [change(`${name}: ${why}`)]
    const other = catalog.ids.find((id) => {
      const known = catalog.find(id)?.interfaces.get(iface.apiInterface)?.verifications
      return known?.some((each) => each.name === name && each.expected === value)
    })
    const named = other === undefined ? why : `${why}, which is ${other}`
    return [change(`wrong chain (${named}): correct the URL, or the chain-id of the upstream`)]
  })
}

/** What a node said to a verification; undefined where it said nothing of the kind. */
function said(finding: Finding | undefined): string | undefined {
  if (finding?.answer.kind !== 'value') return undefined
  const { value } = finding.answer
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** It passes what the spec asks of this add-on. */
function serves(addon: string, findings: readonly Finding[]): boolean {
  const own = findings.filter(({ verification }) => verification.addon === addon)
  return own.length > 0 && own.every(({ why }) => why === null)
}

function ofAddon(addon: string, { findings, config, url, archive, servesCalls }: Examined) {
  const own = findings.filter(({ verification }) => verification.addon === addon)
  const why = own.find((each) => each.why !== null)?.why
  if (!config.addons.includes(addon))
    return serves(addon, findings) && servesCalls
      ? [note(`serves ${addon}, which is not declared: add it to addons to have it used`)]
      : []
  if (why === undefined) return []
  if (url.openAddons.has(addon))
    return [change(`declares ${addon}, and could not be asked about it (${why})`)]
  const hasSome = addon === 'archive' && typeof archive === 'number' && archive > 0
  const all = hasSome ? `${why}; it has the last ${archive} blocks at least` : why
  if (!url.addons.has(addon))
    return [change(`declares ${addon}, does not serve it (${all}): remove the add-on`)]
  // The router keeps it where only a warning was asked for. What an archive lacks is seen there.
  const words = `declares ${addon}, does not show it (${all}), and is used for it all the same`
  return [(hasSome ? change : note)(words)]
}
