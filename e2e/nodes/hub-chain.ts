// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { waitUntil } from '../processes/eventually.ts'
import { contractFile } from './build/go-programs.ts'
import type { NodeCache } from './build/node-cache.ts'
import { makeHome, type NodeSite } from './node-site.ts'
import { toolOutput } from '../processes/run-tool.ts'
import { heightOf, startWasmd, type WasmdNode } from './wasmd.ts'

/** The chain id that the verification of the hub expects. */
export const hubChainId = 'cosmoshub-4'
export const hubDenomination = 'uatom'

/** Public mnemonics: the coins of these accounts have no value. */
export const hubAccounts = {
  validator: 'test test test test test test test test test test test junk',
  user: `${'abandon '.repeat(11)}about`,
} as const

/** Version of the prepared chain. Increment it when a change below affects the chain. */
const edition = 1
const blockMs = 300
const ofTheValidator = [
  'config/node_key.json',
  'config/priv_validator_key.json',
  'data/priv_validator_state.json',
]
const includedWithinMs = 20_000
const coins = (amount: number) => `${amount}${hubDenomination}`

/** The folder of the prepared chain. */
function hubHome(cache: NodeCache): string {
  return join(cache.directory, `hub-chain-${edition}`)
}

/**
 * Prepares the initial chain of every wasmd once: a genesis, and blocks with transfers, a
 * delegation, a proposal, and a contract that is stored, created and called.
 */
export async function prepareHubChain(site: NodeSite, say: (line: string) => void): Promise<void> {
  const home = hubHome(site.cache)
  if (existsSync(home)) return
  say('preparing the hub chain ...')
  const unfinished = `${home}.${process.pid}`
  await rm(unfinished, { recursive: true, force: true })
  const wasmd = new Wasmd(site.cache.program('wasmd'), unfinished)
  await wasmd.makeGenesis()
  const node = await startWasmd(site, { name: 'hub-chain', blockMs, home: unfinished })
  await wasmd.makeHistory(node, site)
  await node.child.stop()
  await rename(unfinished, home)
  say('hub chain prepared')
}

export interface HubOptions {
  readonly name: string
  readonly blockMs: number
  /** Node to follow. Without one this node is the only validator. */
  readonly peer?: WasmdNode
}

/** Starts a node on a copy of the prepared chain. */
export async function startHub(site: NodeSite, options: HubOptions): Promise<WasmdNode> {
  const prepared = hubHome(site.cache)
  if (!existsSync(prepared))
    throw new Error('the hub chain is not prepared. Do it once: make nodes')
  const home = await makeHome(site, options.name)
  await cp(prepared, home, { recursive: true })
  // A follower generates its keys at the start.
  if (options.peer) for (const file of ofTheValidator) await rm(join(home, file))
  return startWasmd(site, { ...options, home })
}

/** Starts a node with a fixed head, which follows a stopped validator. */
export async function startHaltedHub(site: NodeSite, name: string): Promise<WasmdNode> {
  const validator = await startHub(site, { name: `${name}-validator`, blockMs })
  const follower = await startHub(site, { name, blockMs, peer: validator })
  await validator.child.stop()
  return follower
}

/** The command line of wasmd for one home. */
class Wasmd {
  readonly #program: string
  readonly #home: string

  constructor(program: string, home: string) {
    this.#program = program
    this.#home = home
  }

  async makeGenesis(): Promise<void> {
    const denomination = ['--default-denom', hubDenomination]
    await this.#run(['init', 'hub', '--chain-id', hubChainId, ...denomination])
    const keyring = ['--keyring-backend', 'test']
    for (const [name, words] of Object.entries(hubAccounts)) {
      await this.#run(['keys', 'add', name, '--recover', ...keyring], `${words}\n`)
      const funds = coins(1_000_000_000_000)
      await this.#run(['genesis', 'add-genesis-account', name, funds, ...keyring])
    }
    const stake = coins(100_000_000_000)
    await this.#run(['genesis', 'gentx', 'validator', stake, '--chain-id', hubChainId, ...keyring])
    await this.#run(['genesis', 'collect-gentxs'])
  }

  async makeHistory(node: WasmdNode, site: NodeSite): Promise<void> {
    const [user, validator] = await Promise.all([
      this.#address('user', 'acc'),
      this.#address('validator', 'acc'),
    ])
    const operator = await this.#address('validator', 'val')
    const send = (...words: string[]) => this.#send(node, site.signal, words)
    for (const amount of [1, 2_000, 3_000_000])
      await send('bank', 'send', 'user', validator, coins(amount))
    await send('staking', 'delegate', operator, coins(5_000_000))
    await send('wasm', 'store', join(site.cache.directory, contractFile), '--gas', '5000000')
    const terms = JSON.stringify({ verifier: user, beneficiary: validator })
    const label = ['--label', 'escrow', '--no-admin', '--amount', coins(1_000)]
    await send('wasm', 'instantiate', '1', terms, ...label, '--gas', '1000000')
    const untilHeight = (await heightOf(node)) + 3
    await waitUntil('some more blocks', includedWithinMs, site.signal, async () => {
      return (await heightOf(node)) >= untilHeight
    })
  }

  /** Sends a transaction of the user, and waits until it is in a block. */
  async #send(node: WasmdNode, signal: AbortSignal, words: readonly string[]): Promise<void> {
    const from = words.includes('user') ? [] : ['--from', 'user']
    const sent = await this.#run([
      ...['tx', ...words, ...from],
      ...['--node', node.tendermintUrl.replace('http', 'tcp'), '--chain-id', hubChainId],
      ...['--keyring-backend', 'test', '--yes', '--output', 'json'],
    ])
    const { code, txhash, raw_log } = JSON.parse(sent) as {
      code: number
      txhash: string
      raw_log: string
    }
    if (code !== 0) throw new Error(`wasmd tx ${words.join(' ')}: ${raw_log}`)
    await waitUntil(`${words[0]} ${words[1]} is included`, includedWithinMs, signal, async () => {
      const response = await fetch(`${node.tendermintUrl}/tx?hash=0x${txhash}`)
      const { result } = (await response.json()) as { result?: { tx_result: { code: number } } }
      return result?.tx_result.code === 0
    })
  }

  async #address(name: string, kind: 'acc' | 'val'): Promise<string> {
    const bech = ['--bech', kind, '--address', '--keyring-backend', 'test']
    return (await this.#run(['keys', 'show', name, ...bech])).trim()
  }

  async #run(words: readonly string[], input = ''): Promise<string> {
    return toolOutput(this.#program, [...words, '--home', this.#home], input)
  }
}
