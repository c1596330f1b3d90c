// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { setTimeout as sleep } from 'node:timers/promises'
import { askRpc } from '../processes/rpc-client.ts'
import { waitUntil } from '../processes/eventually.ts'
import { type AnvilNode, type AnvilOptions, startAnvil } from '../nodes/anvil.ts'

const blockTimeMs = 1_000
const firstBlocks = 20
const gossipTimeoutMs = 5_000

interface ProducedBlock {
  readonly timestampSeconds: number
  readonly hash: string
  readonly transactions: readonly string[]
}

interface Member {
  node: AnvilNode
  readonly options: AnvilOptions
}

/**
 * Several anvil nodes of one chain. They start from the same genesis and mine the same transactions
 * at the same timestamps, so that every block has the same hash on all of them. A restarted node
 * replays the blocks that it missed.
 */
export class Devnet {
  readonly #members: Member[]
  readonly #blocks: ProducedBlock[] = []
  #waiting: string[] = []
  #turn: Promise<unknown> = Promise.resolve()
  #nextTimestampSeconds: number

  private constructor(members: Member[], genesisSeconds: number) {
    this.#members = members
    this.#nextTimestampSeconds = genesisSeconds + 1
  }

  /** Starts the nodes, and mines a few blocks. */
  static async start(
    names: readonly string[],
    ports: readonly number[],
    shared: Pick<AnvilOptions, 'children' | 'signal'>,
  ): Promise<Devnet> {
    const genesisSeconds = Math.floor(Date.now() / 1000) - firstBlocks - 1
    const members = await Promise.all(
      names.map(async (name, at) => {
        const options = { ...shared, name, port: ports[at]!, chainId: 1, genesisSeconds }
        return { options, node: await startAnvil(options) }
      }),
    )
    const devnet = new Devnet(members, genesisSeconds)
    for (let at = 0; at < firstBlocks; at++) await devnet.#produce()
    return devnet
  }

  get nodes(): readonly AnvilNode[] {
    return this.#members.map(({ node }) => node)
  }

  get head(): number {
    return this.#blocks.length
  }

  /** The hash of a block from 1 to `head`. */
  hashOf(height: number): string {
    return this.#blocks[height - 1]!.hash
  }

  /** Mines a block per second until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#inTurn(() => this.#produce())
      await sleep(blockTimeMs, undefined, { signal }).catch(() => null)
    }
  }

  /**
   * Runs `send` while no block is mined, and waits until every live node has its transaction.
   * Returns the hash and the number of nodes that have it.
   */
  async transact(
    signal: AbortSignal,
    send: () => Promise<string>,
  ): Promise<{ readonly hash: string; readonly nodes: number }> {
    return this.#inTurn(async () => {
      const hash = await send()
      const living = this.#living()
      await waitUntil(`every node has ${hash}`, gossipTimeoutMs, signal, async () => {
        const found = await Promise.all(
          living.map((node) => askRpc(node.url, 'eth_getTransactionByHash', [hash])),
        )
        return found.every((one) => one !== null)
      })
      const raw = await askRpc<string>(living[0]!.url, 'eth_getRawTransactionByHash', [hash])
      this.#waiting.push(raw)
      return { hash, nodes: living.length }
    })
  }

  /** Resolves when all live nodes have the same head, and none is mining. */
  async settled(): Promise<void> {
    await this.#inTurn(() => Promise.resolve())
  }

  /**
   * Kills a node between two blocks, like a power failure.
   * @param rush number of blocks to mine right after the kill
   */
  async kill(name: string, rush = 0): Promise<void> {
    await this.#inTurn(async () => {
      const { child } = this.#member(name).node
      child.kill('SIGKILL')
      await child.ended
      for (let at = 0; at < rush; at++) await this.#produce()
    })
  }

  /** Restarts a node on its old port and lets it catch up. Returns the number of missed blocks. */
  async revive(name: string): Promise<number> {
    const member = this.#member(name)
    member.node = await startAnvil(member.options)
    return this.#inTurn(async () => {
      for (const block of this.#blocks) await mineOn(member.node, block)
      return this.#blocks.length
    })
  }

  async #produce(): Promise<void> {
    const block = { timestampSeconds: this.#nextTimestampSeconds++, transactions: this.#waiting }
    const hashes = await Promise.all(this.#living().map((node) => mineOn(node, block)))
    const [hash] = hashes
    if (hash === undefined || hashes.some((other) => other !== hash))
      throw new Error(`the nodes disagree on block ${this.head + 1}: ${hashes.join(', ')}`)
    this.#waiting = []
    this.#blocks.push({ ...block, hash })
  }

  #living(): AnvilNode[] {
    return this.nodes.filter(({ child }) => child.alive)
  }

  #member(name: string): Member {
    return this.#members.find(({ options }) => options.name === name)!
  }

  #inTurn<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(run)
    this.#turn = result.catch(() => null)
    return result
  }
}

/** Mines one block with these transactions, which the node may already have. Returns its hash. */
async function mineOn(
  { url }: AnvilNode,
  block: Omit<ProducedBlock, 'hash'> & { readonly hash?: string },
): Promise<string> {
  for (const raw of block.transactions) {
    const sent = askRpc<string>(url, 'eth_sendRawTransaction', [raw])
    await sent.catch((error: Error) => {
      if (!/already (imported|known)/i.test(error.message)) throw error
    })
  }
  await askRpc(url, 'evm_mine', [block.timestampSeconds])
  const { hash } = await askRpc<{ hash: string }>(url, 'eth_getBlockByNumber', ['latest', false])
  if (block.hash !== undefined && block.hash !== hash)
    throw new Error(`block ${block.hash} came out as ${hash} when it was mined again`)
  return hash
}
