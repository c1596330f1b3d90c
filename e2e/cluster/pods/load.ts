// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createServer } from 'node:http'
import { SteadyLoad } from '../../demo/steady-load.ts'

/*
 * Reads at a steady rate: load.mjs URL REQUESTS-A-SECOND [BURST-MS]. Every second request closes
 * its connection, so that the load has both old and new connections. With bursts, all connections
 * are reused, after idle times of different lengths. Port 8080 accepts `/enter/NAME`, `/now` and
 * `/leave`, and returns the stretch of load that has just ended, or the current stretch.
 */

const [, , url = '', perSecond = '', burstMs] = process.argv
const isHex = (result: unknown) =>
  /^0x[0-9a-f]/.test(String(result)) ? null : `a result is ${JSON.stringify(result)}`
/** The nth request. Accounts are distinct, since equal in-flight calls share an attempt. */
function question(n: number) {
  const account = `0x${n.toString(16).padStart(40, '0')}`
  const all = [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_getBalance', params: [account, 'latest'] },
    { method: 'eth_gasPrice', params: [] },
  ]
  return { ...all[n % all.length]!, judge: isHex }
}
let requests = 0
const load = new SteadyLoad(
  url,
  Number(perSecond),
  () => question(requests++),
  () => !burstMs && requests % 2 === 0,
  Number(burstMs ?? 5),
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
