// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A block as `eth_getBlockByHash` returns it, without fields that no test needs. */
export interface TestBlock {
  readonly number: string
  readonly hash: string
  readonly parentHash: string
  readonly transactions: readonly string[]
}

export interface TestLog {
  readonly address: string
  readonly topics: readonly string[]
  readonly blockHash: string
  readonly blockNumber: string
  readonly logIndex: string
  readonly removed: boolean
}

/** A small Ethereum chain that a test grows and reorganises. Every block has two logs. */
export class BlockChain {
  readonly #canonical: TestBlock[] = []
  readonly #all = new Map<string, TestBlock>()
  #made = 0

  constructor(height = 10) {
    this.mine(height + 1)
  }

  get head(): TestBlock {
    return this.#canonical.at(-1) as TestBlock
  }

  /** @returns the newest block */
  mine(count = 1): TestBlock {
    for (let each = 0; each < count; each++) {
      const hash = `0x${(++this.#made).toString(16).padStart(64, '0')}`
      const block = {
        number: `0x${this.#canonical.length.toString(16)}`,
        hash,
        parentHash: this.#canonical.at(-1)?.hash ?? `0x${'0'.repeat(64)}`,
        transactions: ['0xdd'],
      }
      this.#canonical.push(block)
      this.#all.set(hash, block)
    }
    return this.head
  }

  /** Replaces the newest blocks with others of the same heights. */
  reorg(depth: number): void {
    this.#canonical.length -= depth
    this.mine(depth)
  }

  /** Makes the branch that ends with this block canonical again. */
  goBackTo(head: TestBlock): void {
    const branch: TestBlock[] = []
    for (let block: TestBlock | undefined = head; block; block = this.#all.get(block.parentHash))
      branch.unshift(block)
    this.#canonical.splice(0, Infinity, ...branch)
  }

  at(number: number): TestBlock {
    return this.#canonical[number] as TestBlock
  }

  /** The answer of a node that lags this many blocks behind. */
  answer(method: string, params: readonly unknown[], lagBlocks = 0): unknown {
    const head = this.#canonical.length - 1 - lagBlocks
    const [which] = params
    switch (method) {
      case 'eth_getBlockByNumber':
        return (
          this.#canonical[which === 'latest' ? head : Math.min(Number(which), head + 1)] ?? null
        )
      case 'eth_getBlockByHash': {
        const block = this.#all.get(String(which))
        return block && Number(block.number) <= head ? block : null
      }
      case 'eth_getLogs': {
        const block = this.#all.get((which as { blockHash: string }).blockHash)
        return block && Number(block.number) <= head ? logsOf(block) : undefined
      }
      default:
        throw new Error(`unexpected call of ${method}`)
    }
  }
}

/** A new block as a node pushes it. */
export function headOf({ number, hash, parentHash }: TestBlock): Omit<TestBlock, 'transactions'> {
  return { number, hash, parentHash }
}

export function logsOf({ number, hash }: TestBlock): readonly TestLog[] {
  return ['0x0', '0x1'].map((logIndex) => ({
    address: `0x${'aa'.padStart(40, '0')}`,
    topics: [],
    blockHash: hash,
    blockNumber: number,
    logIndex,
    removed: false,
  }))
}
