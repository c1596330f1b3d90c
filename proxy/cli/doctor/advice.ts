// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface } from '../../config/types.ts'
import type { Chain, ChainCatalog, ChainInterface } from '../../chain/types.ts'
import { isNeeded } from '../../upstream/probe.ts'
import { tipOf } from '../../upstream/tip.ts'
import type { Checked, Facts } from './examine.ts'

/** What to do about a URL. */
export interface Advice {
  /** `change`: it does not work as the config has it; `note`: it works, and there is something to know. */
  readonly severity: 'change' | 'note'
  readonly message: string
}

/** What a URL is by its config and its spec, and what it has shown. */
export interface Subject {
  readonly upstream: string
  /** Printable: without keys. */
  readonly url: string
  readonly chain: Chain
  readonly iface: ChainInterface
  /** It may be of another chain. */
  readonly catalog: ChainCatalog
  readonly declaredAddons: readonly string[]
  /** For subscriptions alone: it need not know any other method. */
  readonly isForSubscriptions: boolean
  readonly facts: Facts
}

/** What follows from what a URL has shown. */
export interface Diagnosis {
  readonly behindBlocks: number | null
  readonly servedAddons: readonly string[]
  readonly advice: readonly Advice[]
}

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
export function diagnose<S extends Subject>(subjects: readonly S[]): readonly (S & Diagnosis)[] {
  const heads = subjects.flatMap((subject) => {
    const { head } = subject.facts
    return head && wrongOf(subject).length === 0 ? [{ ...head, roseMs: head.atMs }] : []
  })
  const nowMs = Math.max(0, ...heads.map(({ atMs }) => atMs))
  return subjects.map((subject) => {
    const { facts, chain, iface } = subject
    const tip = tipOf(heads, null, chain, nowMs)
    const wrong = wrongOf(subject)
    let behindBlocks: number | null = null
    if (facts.head && tip !== null && wrong.length === 0) {
      // One that was asked a while before the last one is not behind for that.
      const grown = Math.floor((nowMs - facts.head.atMs) / chain.blockTimeMs)
      behindBlocks = Math.max(0, tip - facts.head.block - grown)
    }
    const addons = addonsOf(subject)
    const advice = [
      ...ofTrouble(facts, iface.apiInterface),
      ...wrong.map((each) => change(wrongWords(each, subject))),
      ...facts.checks
        .filter(isWarning)
        .map((each) => note(`${each.verification.name}: ${each.why}`)),
      ...(behindBlocks !== null && behindBlocks > chain.allowedLagBlocks
        ? [change(`behind by ${behindBlocks} blocks: is it in sync? Until it is, others are asked`)]
        : []),
      ...addons.flatMap(({ advice: own }) => own),
      ...ofSubscriptions(subject),
    ]
    const servedAddons = addons.filter(({ isServed }) => isServed).map(({ addon }) => addon)
    return { ...subject, behindBlocks, servedAddons, advice }
  })
}

function change(message: string): Advice {
  return { severity: 'change', message }
}

function note(message: string): Advice {
  return { severity: 'note', message }
}

function ofTrouble({ trouble }: Facts, apiInterface: ApiInterface): readonly Advice[] {
  if (trouble === null) return []
  if (trouble === 'out-of-time') return [change('too slow: it was not asked to the end')]
  const { name } = trouble.failure
  const why = trouble.kind === 'failed' ? trouble.why : name
  const known = name.includes(why) ? name : `${name}, ${why}`
  const [, words] = remedies.find(([failure]) => failure.test(known)) ?? []
  return [change(`${known}: ${words ?? `is it a URL for ${apiInterface}?`}`)]
}

/** Verifications that it fails, and without which it may not serve. */
function wrongOf({ facts, isForSubscriptions }: Subject): readonly Checked[] {
  return facts.checks.filter(
    ({ verification, why, isUnknown }) =>
      isNeeded(verification) && why !== null && !(isForSubscriptions && isUnknown),
  )
}

function isWarning({ verification: { addon, severity }, why, isUnknown }: Checked): boolean {
  return addon === null && severity === 'warn' && why !== null && !isUnknown
}

function wrongWords(checked: Checked, { iface, catalog }: Subject): string {
  const { verification, why, value } = checked
  const { name, expected } = verification
  if (name !== 'chain-id' || expected === null || value === undefined) return `${name}: ${why}`
  const other = catalog.ids.find((id) => {
    const found = catalog.find(id)?.interfaces.get(iface.apiInterface)?.verifications
    return found?.some((each) => each.name === name && each.expected === value)
  })
  const named = other === undefined ? '' : `, which is ${other}`
  return `wrong chain (${why}${named}): correct the URL, or the chain-id of the upstream`
}

/** What is known of each add-on of the interface, declared or not. */
function addonsOf({ iface, declaredAddons, facts, isForSubscriptions }: Subject) {
  return [...iface.addons].map((addon) => {
    const checks = facts.checks.filter(({ verification }) => verification.addon === addon)
    const failed = checks.find(({ why }) => why !== null)
    const isServed = checks.length > 0 && failed === undefined
    // The router keeps it, as it does where only a warning was asked for.
    const isKept = checks.every(
      ({ verification, why }) => why === null || verification.severity === 'warn',
    )
    const isDeclared = declaredAddons.includes(addon)
    const advice: Advice[] = []
    const has =
      addon === 'archive' && typeof facts.depth === 'number' && facts.depth > 0
        ? `; it has the last ${facts.depth} blocks at least`
        : ''
    if (isDeclared && failed && isKept)
      advice.push(
        // What it lacks is seen there.
        (has === '' ? note : change)(
          `declares ${addon}, does not show it (${failed.why}${has}), and is used for it all the same`,
        ),
      )
    else if (isDeclared && failed?.isOpen)
      advice.push(change(`declares ${addon}, and could not be asked about it (${failed.why})`))
    else if (isDeclared && failed)
      advice.push(
        change(`declares ${addon}, does not serve it (${failed.why}${has}): remove the add-on`),
      )
    else if (!isDeclared && isServed && !isForSubscriptions)
      advice.push(note(`serves ${addon}, which is not declared: add it to addons to have it used`))
    return { addon, isServed, advice }
  })
}

function ofSubscriptions({ facts }: Subject): readonly Advice[] {
  const { subscribes } = facts
  if (subscribes === null || subscribes === 'yes') return []
  return [change(`subscriptions do not work (${subscribes}): remove this WebSocket URL`)]
}
