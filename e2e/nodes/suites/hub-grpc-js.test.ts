// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js'
import { beforeAll, expect, test } from 'vitest'
import { hubDenomination, startHub } from '../hub-chain.ts'
import type { WasmdNode } from '../wasmd.ts'
import { openGround } from './ground.ts'
import { type HubFacts, hubFacts } from './hub-facts.ts'
import { reflectService } from './reflected-client.ts'
import { routeTo } from './routed.ts'

const ground = await openGround()

let node: WasmdNode
let facts: HubFacts
let address: string
beforeAll(async () => {
  node = await startHub(ground, { name: 'hub', blockMs: 1_000 })
  facts = await hubFacts(node)
  const nodes = [{ name: 'hub', urls: [{ url: `grpc://${node.grpcAddress}` }] }]
  const { urls } = await routeTo(ground, [{ chainId: 'HUBCHAIN', apiInterface: 'grpc', nodes }])
  address = new URL(urls[0] ?? '').host
})

interface Answer {
  readonly error: ServiceError | null
  readonly value: unknown
  readonly metadata: Metadata
}

async function connect(service: string) {
  const Service = await reflectService(address, service)
  const client = new Service(address, credentials.createInsecure())
  ground.stack.defer(() => {
    client.close()
  })
  return { client, call: callOn(client) }
}

/** Calls a unary method by its name. */
function callOn(client: Client) {
  const methods = client as unknown as Record<
    string,
    (...words: unknown[]) => { once: (event: 'metadata', heard: (sent: Metadata) => void) => void }
  >
  return async (method: string, message: object, metadata = new Metadata(), options = {}) =>
    new Promise<Answer>((resolve) => {
      let sent = new Metadata()
      const end = (error: ServiceError | null, value: unknown) => {
        resolve({ error, value, metadata: sent })
      }
      methods[method]!(message, metadata, options, end).once('metadata', (each) => (sent = each))
    })
}

test('reflection is a stream of both sides, and tells all that a client needs', async () => {
  const { call } = await connect('cosmos.bank.v1beta1.Query')
  const { error, value } = await call('AllBalances', { address: facts.user })
  expect(error).toBeNull()
  expect(value).toMatchObject({ balances: [{ denom: hubDenomination }] })
})

test('metadata goes both ways: the height that is asked for, and the one that is told', async () => {
  const { call } = await connect('cosmos.bank.v1beta1.Query')
  const asked = new Metadata()
  asked.set('x-cosmos-block-height', '2')
  const old = await call('AllBalances', { address: facts.user }, asked)
  const now = await call('AllBalances', { address: facts.user })
  expect(old.metadata.get('x-cosmos-block-height')).toEqual(['2'])
  expect(Number(now.metadata.get('x-cosmos-block-height')[0])).toBeGreaterThanOrEqual(facts.head)
  expect(old.value).not.toEqual(now.value)
  expect(now.metadata.get('rpc-provider-address')).toEqual(['hub'])
})

test('errors have the code and the words of the node', async () => {
  const { call } = await connect('cosmos.bank.v1beta1.Query')
  const { error } = await call('AllBalances', { address: 'nobody' })
  expect(error).toMatchObject({ code: status.INVALID_ARGUMENT })
  expect(error?.details).toMatch(/invalid address/)
  const future = new Metadata()
  future.set('x-cosmos-block-height', '100000')
  const late = await call('AllBalances', { address: facts.user }, future)
  expect(late.error?.details).toMatch(/height/)
})

test('a deadline that is over, and a call that is cancelled', async () => {
  const { client, call } = await connect('cosmos.bank.v1beta1.Query')
  const over = { deadline: Date.now() - 1 }
  const { error } = await call('AllBalances', { address: facts.user }, new Metadata(), over)
  expect(error?.code).toBe(status.DEADLINE_EXCEEDED)
  const cancelled = await new Promise<ServiceError | null>((resolve) => {
    const message = { address: facts.user }
    const methods = client as unknown as Record<string, (...words: unknown[]) => { cancel(): void }>
    methods['AllBalances']!(message, (each: ServiceError | null) => {
      resolve(each)
    }).cancel()
  })
  expect(cancelled?.code).toBe(status.CANCELLED)
  expect((await call('AllBalances', { address: facts.user })).error).toBeNull()
})

test('five hundred calls at once on one connection', async () => {
  const { call } = await connect('cosmos.base.tendermint.v1beta1.Service')
  const heights = Array.from({ length: 500 }, (_each, at) => 1 + (at % facts.head))
  const answers = await Promise.all(heights.map((height) => call('GetBlockByHeight', { height })))
  const got = answers.map(
    ({ value }) =>
      (value as { block?: { header: { height: { toString(): string } } } } | undefined)?.block
        ?.header.height,
  )
  expect(answers.filter(({ error }) => error)).toEqual([])
  expect(got.map(Number)).toEqual(heights)
})
