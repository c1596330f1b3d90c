// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { specsOver } from '../../proxy/chain/load-catalog.ts'

const texts = {
  'eth1.yml': `
id: ETH1
aliases: [ETH, ETHEREUM]
name: Ethereum
family: evm
block-time: 12s
allowed-lag: 3
finality: finalized
interfaces:
  jsonrpc:
    archive-after: 128
    latest-block: { method: eth_blockNumber, result: [], encoding: hex }
    verifications:
      chain-id: { method: eth_chainId, result: [], expected: '0x1' }
    methods:
      eth_chainId: { block: none }
      eth_blockNumber: { block: latest }
      eth_getBalance: { block: { param: 1, default: latest } }
      eth_call: { block: { param: 1, default: latest } }
      eth_sendRawTransaction: { kind: write, block: none }
      eth_newFilter: { kind: local, stateful: creates, block: none }
      eth_subscribe: { kind: subscribe, block: none }
    add-ons:
      archive:
        verifications:
          pruning: { method: eth_getBalance, params: ['0x0', '0x1'] }
      debug:
        methods:
          debug_traceTransaction: { block: none, by-hash: true }
      trace:
        methods:
          trace_block: { block: { param: 0 } }
`,
  'sep1.yml': 'id: SEP1\naliases: [SEPOLIA]\nextends: ETH1\n',
  'hub.yml': `
id: HUBCHAIN
aliases: [COSMOSHUB]
name: Hub
family: cosmos
block-time: 6s
allowed-lag: 2
finality: 1
interfaces:
  rest:
    archive-after: 14200
    latest-block: { path: /latest, result: [height] }
    verifications:
      chain-id: { path: /info, result: [network], expected: hub }
    methods:
      GET /blocks/{height}: { block: { path-parameter: height } }
    add-ons: { archive: {} }
  grpc:
    archive-after: 14200
    latest-block: { method: hub.Service/Latest, result: [1] }
    verifications:
      chain-id: { method: hub.Service/Info, result: [1], expected: hub }
    methods:
      hub.Service/Latest: { block: latest }
      hub.Service/Info: { block: none }
    add-ons: { archive: {} }
`,
}

/** Chain specs for tests, independent of the bundled specs. */
export const testSpecs = specsOver({
  kind: 'directory',
  files: Object.entries(texts).map(([file, text]) => ({ file, text })),
  problems: [],
})
