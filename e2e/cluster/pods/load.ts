// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { SteadyLoad } from '../../demo/steady-load.ts'

/*
 * Reads at a steady rate: load.mjs URL REQUESTS-A-SECOND. Every second request is the last of its connection, so that both
 * old and new connections meet what happens to pods. Port 8080 takes `/enter/NAME`, `/now` and `/leave`, and answers with
 * the stretch of load that this ends, or that is under way.
 */

const [, , url = '', perSecond = ''] = process.argv
const isHex = (result: unknown) =>
  /^0x[0-9a-f]/.test(String(result)) ? null : `a result is ${JSON.stringify(result)}`
const account = '0x00000000219ab540356cbb839cbe05303d7705fa'
const questions = [
  { method: 'eth_blockNumber', params: [], judge: isHex },
  { method: 'eth_getBalance', params: [account, 'latest'], judge: isHex },
  { method: 'eth_gasPrice', params: [], judge: isHex },
]
let asked = 0
const load = new SteadyLoad(
  url,
  Number(perSecond),
  () => questions[asked++ % questions.length]!,
  () => asked % 2 === 0,
)
load.enter('before')
void load.run(new AbortController().signal)

let sinceMs = performance.now()
createServer((request, response) => {
  const [, word, name = 'between'] = (request.url ?? '').split('/')
  const stretch = load.stretches.at(-1)!
  const seconds = (performance.now() - sinceMs) / 1_000
  const answer = () => {
    const byUpstream = Object.fromEntries(stretch.byUpstream)
    response.end(JSON.stringify({ ...stretch, seconds, byUpstream, latenciesMs: undefined }))
  }
  if (word === 'now') {
    answer()
    return
  }
  load.enter(name)
  sinceMs = performance.now()
  void load.ended().then(answer)
}).listen(8080)
