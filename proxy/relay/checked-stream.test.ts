// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { beforeAll, expect, test } from 'vitest'
import type { Chain, ChainInterface } from '../chain/types.ts'
import { JsonRpcReplyReader } from '../listener/jsonrpc/jsonrpc-reply-reader.ts'
import type { ScriptedAnswer } from '../upstream/testing/scripted-transport.ts'
import type { Incoming } from '../upstream/wire.ts'
import { RelayFixture, ethereum, type Asked } from './testing/relay-fixture.ts'

let chain: Chain
let iface: ChainInterface
beforeAll(async () => {
  ;({ chain, iface } = await ethereum())
})

const id = Buffer.from('1')
const hash = (digit: string) => `0x${digit.repeat(64)}`
const hashes = `"hash":"${hash('a')}","parentHash":"${hash('b')}"`
const members = `${hashes},"gasUsed":"0x0","timestamp":"0x1","transactions":[]`
const block = (number: string) => `{"number":"${number}",${members}`
const truth = { body: `{"id":1,"result":${block('0x10')}}}` }
const byNumber: Asked = { method: 'eth_getBlockByNumber', params: ['0x10', false] }
const streamed = (body: string, ...rest: string[]): ScriptedAnswer => ({
  body,
  streams: true,
  rest,
})
const head = (text: string) => `{"id":1,"result":${text}`

/** All of an answer's bytes; null when it breaks off. */
async function readAll({ body }: Incoming): Promise<string | null> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString()
  let text = ''
  try {
    for await (const piece of body) text += Buffer.from(piece).toString()
  } catch {
    return null
  }
  return text
}

async function ask(a: ScriptedAnswer, asked: Asked = byNumber, retryMissingBlocks = false) {
  const scripts = { a: { script: () => a }, b: { script: () => truth } }
  const fixture = new RelayFixture(chain, iface, scripts, { retryMissingBlocks })
  for (const each of fixture.pool.upstreams) fixture.pool.sighted(each, 0x20, 0)
  const { upstream, incoming, call } = await fixture.ask({
    ...asked,
    reader: new JsonRpcReplyReader(id, id),
  })
  const text = incoming && (await readAll(incoming))
  const [first] = call.journal.attempts
  const check = first?.violation?.check ?? null
  return { upstream, text, check, missed: first?.missedBlock, weight: scoreOf(first?.result) }
}

function scoreOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null ? (result as { name: string }).name : result
}

const lie = 'integrity-violated'

test.each([
  ['white space behind it', streamed(`${head(block('0x11'))}}}  `, ' '), 'block-number'],
  ['a member behind it', streamed(`${head(block('0x11'))}},"x":"yy`, 'y"}'), 'block-number'],
  ['more within it', streamed(`${head(block('0x11'))},"x":"yy`, 'y"}}'), 'block-number'],
])('a lie with %s is seen at once', async (_case, answer, check) => {
  expect(await ask(answer)).toMatchObject({ upstream: 'b', text: truth.body, check, weight: lie })
})

test.each([
  [
    'tells its number late',
    streamed(head('{"x":"yy'), `y",${block('0x11').slice(1)}}}`),
    'block-number',
  ],
  [
    'tells its number twice',
    streamed(`${head(block('0x10'))},"x":"yy`, 'y","number":"0x11"}}'),
    'block-number',
  ],
  ['has two documents', streamed(`${head(block('0x10'))},"x":"yy`, 'y"}}{'), 'envelope'],
])('an answer that %s breaks off', async (_case, answer, check) => {
  expect(await ask(answer)).toMatchObject({ upstream: 'a', text: null, check })
})

test('an answer that is right passes, whatever is long in it', async () => {
  const pieces = [head('{"x":"yy'), 'y"', `,${block('0x10').slice(1)}}}`] as const
  const seen = await ask(streamed(...pieces))
  expect(seen).toMatchObject({
    upstream: 'a',
    text: pieces.join(''),
    check: null,
    weight: 'answer',
  })
})

test('null with something behind it is null', async () => {
  const answer = streamed('{"id":1,"result":null,"x":"yy', 'y"}')
  expect(await ask(answer)).toMatchObject({ upstream: 'a', missed: true, check: null })
  expect(await ask(answer, byNumber, true)).toMatchObject({ upstream: 'b', missed: true })
})
