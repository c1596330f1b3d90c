// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { encodeRlp, keccak256, Transaction, Wallet } from 'ethers'
import { describe, expect, it } from 'vitest'
import { BlockMemory } from './block-memory.ts'
import { headerDigest } from './header-digest.ts'
import { ResultDocument } from './result-document.ts'
import { hashOf, judged } from './testing/judged.ts'

const [a, b] = ['a', 'b'].map(hashOf) as [string, string]
const address = `0x${'1'.repeat(40)}`
const byNumber = 'eth_getBlockByNumber'
const byHash = 'eth_getTransactionByHash'

/** In the order of the yellow paper, and of the forks behind it. */
const header = {
  parentHash: b,
  sha3Uncles: '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347',
  miner: address,
  stateRoot: hashOf('1'),
  transactionsRoot: hashOf('2'),
  receiptsRoot: hashOf('3'),
  logsBloom: `0x${'00'.repeat(256)}`,
  difficulty: '0x0',
  number: '0x10',
  gasLimit: '0x2255100',
  gasUsed: '0x0',
  timestamp: '0x65000000',
  extraData: '0x7f',
  mixHash: hashOf('4'),
  nonce: '0x0000000000000000',
}
const forks = {
  london: { baseFeePerGas: '0x7' },
  shanghai: { withdrawalsRoot: hashOf('5') },
  cancun: { blobGasUsed: '0x0', excessBlobGas: '0x80', parentBeaconBlockRoot: hashOf('6') },
  prague: { requestsHash: hashOf('7') },
  amsterdam: { blockAccessListHash: hashOf('8'), slotNumber: '0x1' },
}
const quantities = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas'],
  ...['blobGasUsed', 'excessBlobGas', 'slotNumber'],
])

/** A block with the hash of its header, by another library than the router's. */
function block(members: object = { ...header, ...forks.london, ...forks.shanghai }) {
  const items = Object.entries(members as Record<string, string>).map(([name, value]) => {
    if (!quantities.has(name)) return value
    const digits = value.slice(2).replace(/^0+/, '')
    return `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`
  })
  return {
    ...members,
    hash: keccak256(encodeRlp(items)),
    transactions: [],
    uncles: [],
    size: '0x1',
  }
}

/** A memory that has seen that the chain hashes so. */
function primed(upstream = 'x', members?: object) {
  const memory = new BlockMemory()
  expect(judged(byNumber, ['0x10', false], block(members), { memory, upstream })).toBeNull()
  return memory
}

describe('the hash of a block', () => {
  it.each(Object.keys(forks).map((_fork, at) => at))('is that of its header, fork %s', (at) => {
    const added = Object.assign({}, ...Object.values(forks).slice(0, at + 1)) as object
    const members = { ...header, ...added }
    const memory = primed('x', members)
    const lie = { ...block(members), stateRoot: a }
    expect(judged(byNumber, ['0x10', false], lie, { memory })).toMatchObject({
      check: 'header-hash',
      certain: true,
    })
  })

  it.each(Object.keys(header).filter((name) => name !== 'number'))('tells another %s', (name) => {
    const own = header[name as keyof typeof header]
    const other = { [name]: `${own.slice(0, -1)}${own.endsWith('1') ? '2' : '1'}` }
    const next = block({ ...header, ...forks.london, ...forks.shanghai, extraData: '0x01' })
    const memory = primed()
    const found = judged(byNumber, ['0x10', false], { ...next, ...other }, { memory })
    expect(found).toMatchObject({ certain: true })
    expect(['header-hash', 'shape', 'items-order', 'items-alike']).toContain(found?.check)
  })

  it.each<[string, object]>([
    ['of a fork that is not known', { fromTheFuture: '0x1' }],
    ['without what every header has', { mixHash: undefined }],
    ['of another fork', { withdrawalsRoot: undefined }],
  ])('%s is doubted, and nobody is blamed', (_case, over) => {
    const next = block({ ...header, ...forks.london, ...forks.shanghai, extraData: '0x01' })
    const memory = primed()
    const lie = { ...next, stateRoot: a, ...over }
    expect(judged(byNumber, ['0x10', false], lie, { memory })).toMatchObject({ certain: false })
  })

  it.each<[string, unknown, object]>([
    ['pending', 'pending', { hash: a, stateRoot: a }],
    ['with what else clients tell', '0x10', { totalDifficulty: '0x0', author: address }],
    ['of a fork to come that leaves the hash as it is', '0x10', { fromTheFuture: '0x1' }],
  ])('%s is believed', (_case, asked, over) => {
    const memory = primed()
    expect(judged(byNumber, [asked, false], { ...block(), ...over }, { memory })).toBeNull()
  })

  it('of another chain is believed as soon as two tell the same', () => {
    const memory = new BlockMemory()
    const odd = { ...block(), hash: a }
    const tell = (upstream: string) =>
      judged(byNumber, ['0x10', false], odd, { memory, upstream })?.certain
    expect([tell('x'), tell('x'), tell('y'), tell('x'), tell('y')]).toEqual([
      ...[false, false],
      ...[undefined, undefined, undefined],
    ])
  })

  it('proves its parent against whoever told otherwise before', () => {
    const memory = new BlockMemory()
    const short = { number: '0x10', gasUsed: '0x0', timestamp: '0x1', transactions: [] }
    const { hash } = block()
    for (const upstream of ['p', 'q'])
      judged(byNumber, ['0x10'], { ...short, hash, parentHash: a }, { memory, upstream })
    expect(judged(byNumber, ['0x10'], block(), { memory, upstream: 'x' })).toBeNull()
  })
})

const wallet = new Wallet(hashOf('1'))
const common = { to: address, nonce: 1, gasLimit: 21_000n, chainId: 1, value: 5n, data: '0x1234' }
const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n }
const keys = [{ address, storageKeys: [a, b] }]
const authorization = {
  address,
  nonce: 3n,
  chainId: 1n,
  signature: wallet.signingKey.sign(keccak256('0x')),
}
const signed = await Promise.all(
  [
    { type: 0, gasPrice: 7n },
    { type: 0, gasPrice: 7n, to: null },
    { type: 1, gasPrice: 7n, accessList: keys },
    { type: 2, ...fees, accessList: keys },
    { type: 4, ...fees, authorizationList: [authorization] },
  ].map(async (each) => Transaction.from(await wallet.signTransaction({ ...common, ...each }))),
)
const blob = Transaction.from({
  ...{
    ...common,
    ...fees,
    type: 3,
    maxFeePerBlobGas: 4n,
    blobVersionedHashes: [`0x01${a.slice(4)}`],
  },
  signature: signed[3]!.signature,
})
const hex = (value: bigint | number | string) => `0x${BigInt(value).toString(16)}`

/** As a node shows it. */
function shown(transaction: Transaction) {
  const { signature } = transaction
  const type = transaction.type ?? 0
  const parity = signature!.yParity
  return {
    hash: transaction.hash,
    type: hex(type),
    from: wallet.address,
    to: transaction.to,
    nonce: hex(transaction.nonce),
    gas: hex(transaction.gasLimit),
    value: hex(transaction.value),
    input: transaction.data,
    gasPrice: hex(transaction.gasPrice ?? 1n),
    ...(type > 0 && { chainId: '0x1', yParity: hex(parity), accessList: transaction.accessList }),
    ...(type > 1 && { maxFeePerGas: '0x9', maxPriorityFeePerGas: '0x1' }),
    ...(type === 3 && {
      maxFeePerBlobGas: '0x4',
      blobVersionedHashes: transaction.blobVersionedHashes,
    }),
    ...(type === 4 && {
      authorizationList: (transaction.authorizationList ?? []).map((each) => ({
        ...{ address: each.address, nonce: hex(each.nonce), chainId: hex(each.chainId) },
        yParity: hex(each.signature.yParity),
        ...{ r: hex(each.signature.r), s: hex(each.signature.s) },
      })),
    }),
    v: hex(type === 0 ? (signature!.networkV ?? signature!.v) : parity),
    r: hex(signature!.r),
    s: hex(signature!.s),
    blockNumber: '0x10',
    blockHash: a,
    transactionIndex: '0x0',
  }
}

/** A block that holds it. */
function listing(transaction: object) {
  const own = block({ ...header, ...forks.london, gasUsed: '0x1' })
  return { ...own, transactions: [{ ...transaction, blockHash: own.hash }] }
}

describe.each([...signed, blob].map((each) => shown(each)))(
  'a transaction of type $type',
  (own) => {
    const ask = (over: object, memory: BlockMemory) =>
      judged(byHash, [own.hash], { ...own, ...over }, { memory })

    it('makes its hash', () => {
      const memory = new BlockMemory()
      expect(ask({}, memory)).toBeNull()
      expect(memory.transactions.size).toBe(1)
      const list = listing(own)
      expect(judged(byNumber, ['0x10', true], list, { memory })).toBeNull()
    })

    it.each(['nonce', 'gas', 'value', 'input', 'to', 'r', 'v'])(
      'does not with another %s',
      (name) => {
        const memory = new BlockMemory()
        ask({}, memory)
        const value = name === 'to' ? `0x${'2'.repeat(40)}` : '0x77'
        const parity = name === 'v' && 'yParity' in own ? { yParity: '0x77' } : {}
        const lie = { [name]: value, ...parity }
        expect(ask(lie, memory)).toMatchObject({ check: 'transaction-hash', certain: true })
        const listed = listing({ ...own, ...lie })
        expect(judged(byNumber, ['0x10', true], listed, { memory })).toMatchObject({
          check: 'transaction-hash',
        })
      },
    )
  },
)

it('a chain id is that of the signature', async () => {
  const ask = (own: ReturnType<typeof shown>, chainId: string | null) =>
    judged(byHash, [own.hash], { ...own, chainId })?.certain ?? null
  const own = shown(signed[0]!)
  expect(ask(own, '0x1')).toBeNull()
  expect(ask(own, null)).toBeNull()
  expect(ask(own, '0x5')).toBe(false)
  // Before EIP-155 a signature told none.
  const raw = await wallet.signTransaction({ ...common, type: 0, gasPrice: 7n, chainId: 0 })
  expect(ask(shown(Transaction.from(raw)), '0x5')).toBeNull()
})

it('a typed transaction whose v tells another parity is a lie', () => {
  const own = shown(signed[3]!)
  const ask = (v: string) =>
    judged(byHash, [own.hash], { ...own, v }, { memory: new BlockMemory() })?.certain ?? null
  const isOdd = own.v === '0x1'
  expect([isOdd ? '0x0' : '0x1', isOdd ? '0x1b' : '0x1c', '0x7'].map(ask)).toEqual([
    ...[true, true, true],
  ])
  // As of an older transaction, without and with the chain.
  const older = [own.v, isOdd ? '0x1c' : '0x1b', isOdd ? '0x26' : '0x25']
  expect(older.map(ask)).toEqual([null, null, null])
})

it('a transaction that tells no type is believed', () => {
  const own = shown(signed[0]!)
  expect(judged(byHash, [own.hash], { ...own, type: undefined })).toBeNull()
})

describe('a transaction of a type that is not known', () => {
  const own = { ...shown(signed[3]!), type: '0x7e', value: '0x77' }
  const ask = (memory: BlockMemory, upstream: string, over: object = {}) => {
    const told = { ...own, ...over }
    return judged(byHash, [told.hash], told, { memory, upstream })?.certain ?? null
  }

  it('is doubted until two tell the same, and then so is none of that type', () => {
    const memory = new BlockMemory()
    expect([ask(memory, 'x'), ask(memory, 'x'), ask(memory, 'y')]).toEqual([false, false, null])
    // However a node writes it, and whatever it tells besides.
    expect(ask(memory, 'z', { from: own.from.toUpperCase().replace('X', 'x') })).toBe(null)
    expect(ask(memory, 'z', { nonce: '0x01', sourceHash: a, mint: '0x1' })).toBe(null)
    expect(ask(memory, 'x', { hash: a, value: '0x5' })).toBe(null)
    expect(ask(memory, 'x', { hash: b, type: '0x7f' })).toBe(false)
  })

  it('is doubted where the same was told otherwise', () => {
    const memory = new BlockMemory()
    for (const upstream of ['x', 'y']) ask(memory, upstream)
    for (const name of ['value', 'to', 'input', 'nonce', 'gas'])
      expect(ask(memory, 'z', { [name]: `0x${'9'.repeat(40)}` })).toBe(false)
  })

  it('is a lie where its hash is that of another type', () => {
    const memory = new BlockMemory()
    const { hash } = signed[3]!
    expect(judged(byHash, [hash], shown(signed[3]!), { memory })).toBeNull()
    expect(ask(memory, 'z')).toBe(true)
  })

  it('is doubted inside of a block', () => {
    const memory = new BlockMemory()
    const found = (over: object) =>
      judged(byNumber, ['0x10', true], listing({ ...own, ...over }), { memory })
    expect(found({})).toMatchObject({ check: 'transaction-hash', certain: false })
  })
})

it('a transaction that nobody signed is only doubted, such as those that anvil makes', () => {
  const memory = new BlockMemory()
  const own = shown(signed[0]!)
  judged(byHash, [own.hash], own, { memory })
  const unsigned = { ...own, hash: b, r: '0x0', s: '0x0' }
  expect(judged(byHash, [b], unsigned, { memory })).toMatchObject({ certain: false })
})

it('the form of a header that a node makes up is short, and its own', () => {
  const formOf = (name: string) => {
    const bytes = Buffer.from(JSON.stringify({ ...header, [name]: 1 }))
    return headerDigest(new ResultDocument(bytes, { start: 0, end: bytes.length })).form
  }
  const [one, two] = ['a', 'b'].map((each) => formOf(each.repeat(900_000)))
  expect(one).not.toBe(two)
  expect(one!.length).toBeLessThan(500)
  expect(formOf('l1BlockNumber')).toContain('l1BlockNumber')
})
