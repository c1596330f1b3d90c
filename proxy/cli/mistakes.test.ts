// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { main } from './main.ts'

/* What users see after a mistake: each line names the place and the remedy. */

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'router-mistakes-'))
  await writeFile(join(folder, 'wrong.env'), 'KEY: value\n')
})
afterAll(() => rm(folder, { recursive: true }))

const variables = { LEFT: 'YOUR_API_KEY', EMPTY: '', BROKEN: 'abc\ndef' }

/** A config with one URL. */
function url(text: string): string {
  return `direct-rpc:
  - name: a
    chain-id: ETH1
    node-urls:
      - url: ${text}
skip-websocket-verification: true
`
}
const chain = (id: string) => url('https://h.example').replace('ETH1', id)
const good = url('http://127.0.0.1:8545')

type Mistake = [
  what: string,
  /** Words behind `router`; FILE is the config. */
  line: string,
  config: string | null,
  expected: readonly string[],
  environment?: Readonly<Record<string, string>>,
]

const mistakes: Mistake[] = [
  [
    'a key left as YOUR_API_KEY',
    'validate FILE',
    url('https://h.example/v2/YOUR_API_KEY'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: YOUR_API_KEY. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a key left as your-api-key',
    'validate FILE',
    url('https://h.example/v2/your-api-key'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: your-api-key. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a shell variable',
    'validate FILE',
    url('https://h.example/v2/$MY_KEY'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: $MY_KEY. Write ${MY_KEY} for the value of the variable.',
    ],
  ],
  [
    'a template placeholder',
    'validate FILE',
    url('"https://h.example/v2/{{KEY}}"'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: {{KEY}}. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a placeholder in braces',
    'validate FILE',
    url('"https://h.example/v2/{apiKey}"'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: {apiKey}. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a placeholder in angle brackets',
    'validate FILE',
    url('"https://h.example/v2/<key>"'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced: <key>. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a key left in a header',
    'validate FILE',
    url(
      'https://h.example\n        auth-config:\n          auth-headers:\n            Authorization: Bearer YOUR_TOKEN',
    ),
    [
      'FILE:8:28: error: direct-rpc[0].node-urls[0].auth-config.auth-headers.Authorization: the value holds a placeholder that was not replaced: YOUR_TOKEN. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a key left in a variable',
    'validate FILE',
    url('https://h.example/v2/${LEFT}'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value holds a placeholder that was not replaced. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'an unset variable',
    'validate FILE',
    url('https://h.example/v2/${UNSET}'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the variable UNSET is not set. Set it in the environment or in an env file (--env-file).',
    ],
  ],
  [
    'an empty variable',
    'validate FILE',
    url('https://h.example/v2/${EMPTY}'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the variable EMPTY is empty. Set it in the environment or in an env file (--env-file).',
    ],
  ],
  [
    'a variable with a line break',
    'validate FILE',
    url('https://h.example/v2/${BROKEN}'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is a URL with a line break in it. Does the variable end with one?',
    ],
  ],
  [
    'a malformed placeholder',
    'validate FILE',
    url('"https://h.example/v2/${A B}"'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: a placeholder is not well formed. Write ${NAME} or $<NAME>: letters, digits and underscores. A literal ${ is written $${.',
    ],
  ],
  [
    'an env file that is missing',
    'validate FILE --env-file gone.env',
    good,
    [
      'FILE: error: env-file: the env file gone.env cannot be read: there is no such file. Correct env-file, or write NAME=value lines into that file.',
    ],
  ],
  [
    'an env file with a wrong line',
    'validate FILE --env-file wrong.env',
    good,
    [
      'FILE: error: env-file: line 1 of wrong.env is not NAME=value. Lines are NAME=value; put a value with quotes or " #" in it in single quotes.',
    ],
  ],
  [
    'an empty header',
    'validate FILE',
    url(
      'https://h.example\n        auth-config:\n          auth-headers:\n            Authorization: ""',
    ),
    [
      'FILE:8:28: error: direct-rpc[0].node-urls[0].auth-config.auth-headers.Authorization: the value is empty. Write a value, or remove it.',
    ],
  ],
  [
    'a header of the connection',
    'validate FILE',
    url(
      'https://h.example\n        auth-config:\n          auth-headers:\n            Connection: close',
    ),
    [
      'FILE:8:25: error: direct-rpc[0].node-urls[0].auth-config.auth-headers.Connection: the header "Connection" belongs to the connection and cannot be set. Remove it.',
    ],
  ],
  [
    'a URL without a scheme',
    'validate FILE',
    url('h.example/v2'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is a URL without a scheme. Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  ],
  [
    'a URL with another scheme',
    'validate FILE',
    url('htps://h.example/v2'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is a URL with a scheme that is not known. Did you mean https? Allowed: http, https, ws, wss, grpc, grpcs.',
    ],
  ],
  [
    'a URL with white space',
    'validate FILE',
    url('"https://h.example/v2 3"'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is a URL with white space in it. Write a space as %20.',
    ],
  ],
  [
    'a URL without a host',
    'validate FILE',
    url('https://'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is not a valid URL. Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  ],
  [
    'a URL with a wrong port',
    'validate FILE',
    url('https://h.example:70000'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: the value is not a valid URL. Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  ],
  [
    'a gRPC URL for JSON-RPC',
    'validate FILE',
    url('grpc://h.example\n    api-interface: jsonrpc'),
    [
      'FILE:5:14: error: direct-rpc[0].node-urls[0].url: a grpc URL cannot serve jsonrpc. Write one of: http, https, ws, wss.',
    ],
  ],
  [
    `the router's own URL`,
    'validate FILE',
    url('http://127.0.0.1:3360'),
    [
      `FILE:5:14: warning: direct-rpc[0].node-urls[0].url: the URL is the router's own listener, 127.0.0.1:3360 of endpoints[0]. Its calls would loop. Name the node itself.`,
    ],
  ],
  [
    'an unquoted placeholder in a list',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: ETH1\n    node-urls:\n      [https://h.example/${KEY}]\nskip-websocket-verification: true\n',
    [
      'FILE:5:27: error: not valid YAML: Missing , or : between flow sequence items. Put a value with ": ", "[" or "{" in it in quotes, such as "[::1]:3360" or "https://h/${KEY}".',
    ],
  ],
  [
    'a misspelt chain',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: etherium\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "etherium". Did you mean ETH1 (Ethereum Mainnet)?',
    ],
  ],
  [
    'a chain by a wrong name',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: Arbitrum On\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "Arbitrum On". Did you mean ARBITRUM (Arbitrum One)?',
    ],
  ],
  [
    'a network without its chain',
    'validate FILE',
    chain('mainnet'),
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "mainnet". Did you mean ETH1 (Ethereum Mainnet), BTC (Bitcoin Mainnet), BASE (Base), OPTM (OP Mainnet), or SLOTCHAIN (Solana)?',
    ],
  ],
  [
    'a test network without its chain',
    'validate FILE',
    chain('testnet'),
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "testnet". Did you mean SEP1 (Ethereum Sepolia), HOODI (Ethereum Hoodi), BSCT (BNB Smart Chain Testnet), BTCT (Bitcoin Testnet 3), XLMT (Stellar Testnet), or SUIT (Sui Testnet)?',
    ],
  ],
  ...(
    [
      ['eth-mainnet', 'ETH1 (Ethereum Mainnet)'],
      ['polygon-mainnet', 'POLYGON (Polygon PoS)'],
      ['arb1', 'ARBITRUM (Arbitrum One)'],
      ['bitcoin-testnet', 'BTCT (Bitcoin Testnet 3) or BTC-TESTNET4 (Bitcoin Testnet 4)'],
      ['solana-mainnet', 'SLOTCHAIN (Solana)'],
      ['cosmoshub-4', 'HUBCHAIN (Cosmos Hub)'],
      ['near-mainnet', 'NEAR'],
      ['zksync-mainnet', 'ZKSYNC (ZKsync Era)'],
    ] as const
  ).map(([id, meant]): Mistake => {
    const what = `FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "${id}".`
    return [`the chain ${id}`, 'validate FILE', chain(id), [`${what} Did you mean ${meant}?`]]
  }),
  [
    'a chain that nobody knows',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: zzz\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "zzz". Known chains: ANVIL, ARBITRUMN, ARBITRUMS, ARBITRUM, AVALANCHEC, AVALANCHECT, AXELAR, BASES, BASE, BEACONH, BEACONS, BEACON, BERACHAIN, BLAST, BSCT, BSC, BTC-REGTEST, BTC-SIGNET, BTCT, BTC-TESTNET4 and 48 more. Any EVM chain is evm: and its chain id, such as evm:8453. Others can be added with `--use-static-spec`.',
    ],
  ],
  [
    'a chain id without evm:',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: 8453\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: No chain spec has the id "8453". Did you mean evm:8453?',
    ],
  ],
  [
    'an EVM chain in hex',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: evm:0x2105\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:3:15: error: direct-rpc[0].chain-id: "evm:0x2105" is not a chain id. Write one such as ETH1, Base or evm:8453: letters, digits, dot, dash and underscore, 64 at most.',
    ],
  ],
  [
    'no chain',
    'validate FILE',
    'direct-rpc: [{ name: a, node-urls: ["https://h.example"] }]\n',
    [
      'FILE:1:14: error: direct-rpc[0]: "chain-id" is missing. Chain of the upstream, by the id or an alias of its spec.',
    ],
  ],
  [
    'an interface that the chain lacks',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: ETH1\n    node-urls:\n      - https://h.example\n    api-interface: rest\nskip-websocket-verification: true\n',
    [
      'FILE:6:20: error: direct-rpc[0].api-interface: ETH1 is not served through rest. ETH1 has: jsonrpc.',
    ],
  ],
  [
    'no interface for a chain with several',
    'validate FILE',
    'direct-rpc:\n  - name: a\n    chain-id: HUBCHAIN\n    node-urls:\n      - https://h.example\nskip-websocket-verification: true\n',
    [
      'FILE:2:5: error: direct-rpc[0]: "api-interface" is missing. Interface of the upstream. Allowed: rest, tendermintrpc, grpc.',
    ],
  ],
  [
    'an add-on that the chain lacks',
    'validate FILE',
    url('https://h.example\n        addons: [arcive]'),
    [
      'FILE:6:18: error: direct-rpc[0].node-urls[0].addons[0]: ETH1 has no add-on "arcive" on jsonrpc. Did you mean "archive"? Its add-ons: archive, debug, trace, bundler.',
    ],
  ],
  [
    'an empty file',
    'validate FILE',
    '',
    [
      'FILE: error: the file is empty. It needs direct-rpc, the list of upstreams; router init writes a first config.',
    ],
  ],
  [
    'a list at the top',
    'validate FILE',
    '- a\n',
    [
      'FILE:1:1: error: the top level of the file is not a map. It begins with keys such as direct-rpc:.',
    ],
  ],
  [
    'no upstream',
    'validate FILE',
    'direct-rpc: []\n',
    ['FILE:1:1: error: direct-rpc: the list is empty. It needs at least one entry.'],
  ],
  [
    'a misspelt section',
    'validate FILE',
    'direct_rpcs:\n  - name: a\n    chain-id: ETH1\n    node-urls:\n      - url: http://127.0.0.1:8545\nskip-websocket-verification: true\n',
    ['FILE:1:1: error: direct_rpcs: unknown key "direct_rpcs". Did you mean "direct-rpc"?'],
  ],
  [
    'a misspelt setting',
    'validate FILE',
    good + 'stratgy: latency\n',
    ['FILE:7:1: error: stratgy: unknown key "stratgy". Did you mean "strategy"?'],
  ],
  [
    'a setting with a wrong word',
    'validate FILE',
    good + 'strategy: fastest\n',
    [
      'FILE:7:11: error: strategy: "fastest" is not one of the allowed values. Allowed: balanced, latency, sync-freshness, availability, round-robin.',
    ],
  ],
  [
    'a duration without a unit',
    'validate FILE',
    good + 'drain-timeout: 25\n',
    ['FILE:7:16: error: drain-timeout: "25" has no unit. Write one such as 500ms, 5s or 1m30s.'],
  ],
  [
    'a size with a wrong unit',
    'validate FILE',
    good + 'cache-bytes: 10XB\n',
    ['FILE:7:14: error: cache-bytes: "10XB" is not a size. Write one such as 10MiB or 512KiB.'],
  ],
  [
    'a number that is too large',
    'validate FILE',
    good + 'set-relay-retry-limit: 1000\n',
    ['FILE:7:24: error: set-relay-retry-limit: "1000" is too large. The maximum is 100.'],
  ],
  [
    'a text in place of an upstream',
    'validate FILE',
    'direct-rpc: [https://h.example]\n',
    [
      'FILE:1:14: error: direct-rpc[0]: must be a map with name, chain-id, api-interface, group-label, allowed-methods, denied-methods, node-urls.',
    ],
  ],
  [
    'a text in place of the upstreams',
    'validate FILE',
    'direct-rpc: https://h.example\n',
    [
      'FILE:1:13: error: direct-rpc[0]: must be a map with name, chain-id, api-interface, group-label, allowed-methods, denied-methods, node-urls.',
    ],
  ],
  [
    'URLs at the top',
    'validate FILE',
    'node-urls: [https://h.example]\n',
    [
      'FILE: error: "direct-rpc" is missing. Primary upstreams, each with `name`, `chain-id` and `node-urls`.',
      'FILE:1:1: error: node-urls: unknown key "node-urls". Known here: endpoints, direct-rpc, backup-direct-rpc, cross-validation, cache, logs, resp-cache, and the flags of router help run.',
    ],
  ],
  [
    'an upstream without URLs',
    'validate FILE',
    'direct-rpc: [{ name: a, chain-id: ETH1 }]\n',
    [
      'FILE:1:14: error: direct-rpc[0]: "node-urls" is missing. One or more URLs of this upstream, which fail over to each other.',
    ],
  ],
  [
    'a tab',
    'validate FILE',
    'direct-rpc:\n	- name: a\n',
    ['FILE:2:1: error: not valid YAML: Tabs are not allowed as indentation. Indent with spaces.'],
  ],
  [
    'two listeners on a port',
    'validate FILE',
    'endpoints: [{ chain-id: ETH1 }, { chain-id: ETH1 }]\n' + good,
    [
      'FILE:1:33: error: endpoints[1]: 0.0.0.0:3360 collides with 0.0.0.0:3360 of endpoints[0] on line 1. Give each its own port.',
    ],
  ],
  [
    'a listener without upstreams',
    'validate FILE',
    'endpoints: [{ chain-id: base }]\n' + good,
    [
      'FILE:1:13: error: endpoints[0]: no upstream of direct-rpc serves BASE jsonrpc. Existing ones serve ETH1 jsonrpc.',
      'FILE:3:5: warning: direct-rpc[0]: no listener of endpoints serves ETH1 jsonrpc, so this upstream is not used.',
    ],
  ],
  [
    'an address that is a URL',
    'validate FILE',
    'endpoints: [{ chain-id: ETH1, network-address: "http://a:1" }]\n' + good,
    [
      'FILE:1:48: error: endpoints[0].network-address: "http://a:1" is a URL; expected an address. Write host:port, such as 0.0.0.0:3360, "[::1]:3360" (in YAML with the quotes) or :3360.',
    ],
  ],
  [
    'subscriptions without a WebSocket, behind a listener of the file',
    'validate FILE',
    'endpoints: [{ chain-id: ETH1 }]\ndirect-rpc: [{ name: a, chain-id: ETH1, node-urls: ["http://127.0.0.1:8545"] }]\n',
    [
      'FILE:1:13: error: endpoints[0]: ETH1 jsonrpc has subscriptions, and none of its upstreams (a) has a WebSocket URL. To serve without subscriptions add the line "skip-websocket-verification: true" to the file, or start with --skip-websocket-verification. To serve them add a ws or wss URL to one of the upstreams.',
    ],
  ],
  [
    'subscriptions without a WebSocket, in a short file',
    'validate FILE',
    'direct-rpc: [{ name: a, chain-id: ETH1, node-urls: ["http://127.0.0.1:8545"] }]\n',
    [
      'FILE:1:41: warning: direct-rpc[0].node-urls: subscriptions to ETH1 jsonrpc are off: none of its upstreams (a) has a WebSocket URL. Add a ws or wss URL for them, or accept it with "skip-websocket-verification: true" or --skip-websocket-verification.',
    ],
  ],
  [
    'subscriptions without a WebSocket, that a short file demands',
    'validate FILE',
    'direct-rpc: [{ name: a, chain-id: ETH1, node-urls: ["http://127.0.0.1:8545"] }]\nskip-websocket-verification: false\n',
    [
      'FILE: error: endpoints[0]: ETH1 jsonrpc has subscriptions, and none of its upstreams (a) has a WebSocket URL. To serve without subscriptions add the line "skip-websocket-verification: true" to the file, or start with --skip-websocket-verification. To serve them add a ws or wss URL to one of the upstreams.',
    ],
  ],
  [
    'subscriptions without a WebSocket, in flags',
    'validate --chain ETH1 --url https://h.example',
    null,
    [
      'router: warning: --url: subscriptions to ETH1 jsonrpc are off: none of its upstreams (h-1) has a WebSocket URL. Add a ws or wss URL for them, or accept it with "skip-websocket-verification: true" or --skip-websocket-verification.',
    ],
  ],
  [
    'an address beside endpoints',
    'validate FILE --network-address :3361',
    'endpoints: [{ chain-id: ETH1 }]\n' + good,
    [
      'router: error: --network-address: it has no effect beside endpoints. Write the address there.',
    ],
  ],
  [
    'an address without brackets',
    'validate --chain btc --url https://h.example --network-address ::1',
    null,
    [
      'router: error: --network-address: "::1" needs brackets. Write "[::1]:3360", in YAML with the quotes.',
    ],
  ],
  [
    'a misspelt command',
    'valdate FILE',
    good,
    [
      'router: error: unknown command "valdate". Did you mean validate? A file of that name is ./valdate.',
    ],
  ],
  [
    'a misspelt command alone',
    'statu',
    null,
    [
      'router: error: unknown command "statu". Did you mean status? A file of that name is ./statu.',
    ],
  ],
  [
    'a misspelt flag',
    'FILE --stratgy latency',
    good,
    ['router: error: --stratgy: unknown flag "--stratgy". Did you mean --strategy?'],
  ],
  [
    'a flag with one dash',
    'FILE -strategy latency',
    good,
    ['router: error: -strategy: unknown flag "-strategy". Did you mean --strategy?'],
  ],
  [
    'a flag without its value',
    'FILE --strategy',
    good,
    [
      'router: error: --strategy: the value is missing. Write --strategy <balanced|latency|sync-freshness|availability|round-robin>.',
    ],
  ],
  [
    'a flag twice',
    'FILE --strategy latency --strategy latency',
    good,
    ['router: error: --strategy: the flag is given twice. Keep one of them.'],
  ],
  [
    'a flag of another command',
    'FILE --at 127.0.0.1:7779',
    good,
    [
      'router: error: --at: the flag is not of router run. It is a flag of: router top, router status, router explain.',
    ],
  ],
  [
    'a wrong value of a flag',
    'validate FILE --log-level loud',
    good,
    [
      'router: error: --log-level: "loud" is not one of the allowed values. Allowed: debug, info, warn, error.',
    ],
  ],
  [
    'a wrong value of a variable',
    'validate FILE',
    good,
    ['router: error: SR_LOG_FORMAT: "xml" is not one of the allowed values. Allowed: json, text.'],
    { SR_LOG_FORMAT: 'xml' },
  ],
  [
    'a command of other programs',
    'start',
    null,
    ['router: error: unknown command "start". Did you mean run? A file of that name is ./start.'],
  ],
  [
    'a URL in place of a file',
    'https://h.example/v2/a-key-of-mine',
    null,
    ['router: error: a URL is not a config file. Write --url before it.'],
  ],
  [
    'a flag for the file',
    '--config FILE',
    good,
    [
      'router: error: --config: unknown flag "--config". The file needs no flag: router config.yml.',
    ],
  ],
  [
    'a flag for the port',
    '--port 3361',
    null,
    ['router: error: --port: unknown flag "--port". Did you mean --network-address?'],
  ],
  [
    'keys of other programs',
    'validate FILE',
    'upstreams: [{ name: a, chain: ETH1, url: https://h.example }]\n',
    ['FILE:1:1: error: upstreams: unknown key "upstreams". Did you mean "direct-rpc"?'],
  ],
  [
    'a URL beside the chain',
    'validate FILE',
    'direct-rpc: [{ name: a, chain-id: ETH1, url: https://h.example }]\n',
    ['FILE:1:41: error: direct-rpc[0].url: unknown key "url". Did you mean "node-urls"?'],
  ],
  [
    'two files',
    'FILE FILE',
    good,
    ['router: error: unexpected argument "FILE". router run takes one config file.'],
  ],
  [
    'no file',
    '',
    null,
    [
      'router: error: there is no config: no argument, no SR_CONFIG, and no config.yml in this folder. Write one with router init, or serve without one: router --chain ETH1 --url https://eth.example.com/v2/KEY.',
    ],
  ],
  [
    'a file that is missing',
    'gone.yml',
    null,
    [
      'gone.yml: error: the file cannot be read: there is no such file. Correct the path, or let router init write a config.',
    ],
  ],
  [
    'a folder',
    '/tmp',
    null,
    ['/tmp: error: the file cannot be read: it is a directory. Name a file.'],
  ],
  [
    'a file and a URL',
    'FILE --url https://h.example',
    good,
    [
      'router: error: --url: the flag replaces a config file. Write it into FILE, or leave the file out.',
    ],
  ],
  [
    'a chain without a URL',
    '--chain ETH1',
    null,
    [
      'router: error: --url: the URL of a node is missing. Such as --url https://eth.example.com/v2/KEY.',
    ],
  ],
  [
    'a URL without a scheme in a flag',
    'validate --chain ETH1 --url h.example',
    null,
    [
      'router: error: --url: the value is a URL without a scheme. Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.',
    ],
  ],
  [
    'a misspelt chain in a flag',
    'validate --chain etherium --url https://h.example',
    null,
    [
      'router: error: --chain: No chain spec has the id "etherium". Did you mean ETH1 (Ethereum Mainnet)?',
    ],
  ],
  [
    'a chain with several interfaces in a flag',
    'validate --chain cosmos --url https://h.example',
    null,
    [
      'router: error: --interface: "api-interface" is missing. Interface of the upstream. Allowed: rest, tendermintrpc, grpc.',
    ],
  ],
  [
    'a key left in a flag',
    'validate --chain ETH1 --url https://h.example/YOUR_KEY',
    null,
    [
      'router: error: --url: the value holds a placeholder that was not replaced: YOUR_KEY. Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).',
    ],
  ],
  [
    'a node that does not answer',
    'validate --url http://127.0.0.1:2',
    null,
    [
      'router: error: --chain: the chain is missing, and http://127.0.0.1:2 does not report one that is known. Name it, such as --chain ETH1; then router doctor says what is wrong with the URL.',
    ],
  ],
  [
    'init without a URL',
    'init',
    null,
    [
      'router: error: nothing was written: the URL of a node is missing. Such as router init --url https://eth.example.com/v2/${KEY}.',
    ],
  ],
  [
    'init over a file',
    'init FILE --chain ETH1 --url https://h.example',
    good,
    ['FILE: error: it exists, and is left as it is. Name another file, or remove it.'],
  ],
  [
    'explain without a guid',
    'explain',
    null,
    [
      'router: error: expected one guid, --failed, --slow, --retried or --upstream. Rpc-Guid, a header of each answer, has the guid; --failed lists the last failed calls.',
    ],
  ],
  [
    'an admin address that is not on',
    'explain --failed --at 127.0.0.1:2',
    null,
    [
      'router: error: 127.0.0.1:2: the admin address is not on: no router runs there, or its metrics-listen-address is another (name it with --at) or off',
    ],
  ],
  [
    'a wrong admin address',
    'status --at ::1',
    null,
    ['router: error: --at: "::1" needs brackets. Write host:7779.'],
  ],
  [
    'replay without a recording',
    'replay --against FILE',
    good,
    ['router: error: a file is missing. Write router replay <recording> --against <config.yml>.'],
  ],
  [
    'replay with a wrong rate',
    'replay r --against FILE --rate fast',
    good,
    ['router: error: --rate: "fast" is not a whole number from 1. Such as 20.'],
  ],
  [
    'completion without a shell',
    'completion',
    null,
    [
      'router: error: expected bash, zsh or fish. Such as source <(router completion bash); for fish: router completion fish | source.',
    ],
  ],
  [
    'help for no command',
    'help serve',
    null,
    ['router: error: there is no command "serve". See router help.'],
  ],
]

test.each<Mistake>(mistakes)(
  '%s: router %s',
  async (_what, line, config, expected, environment = {}) => {
    const file = join(folder, 'config.yml')
    await rm(file, { force: true })
    if (config !== null) await writeFile(file, config)
    let written = ''
    const sink = { write: (text: string) => (written += text) }
    const pathOf = (word: string) => (word === 'wrong.env' ? join(folder, word) : word)
    const args = line.split(' ').filter((word) => word !== '')
    const code = await main(
      args.map((word) => (word === 'FILE' ? file : pathOf(word))),
      { stdout: sink, stderr: sink, environment: { ...variables, ...environment } },
    )
    const lines = written.replaceAll(file, 'FILE').replaceAll(`${folder}/`, '').trim().split('\n')
    const problems = lines.filter((each) => !/this config is refused|is valid: /.test(each))
    expect(problems).toEqual(expected)
    expect(code === 0).toBe(expected.every((each) => each.includes('warning: ')))
  },
)

test('there are sixty mistakes', () => {
  expect(mistakes.length).toBeGreaterThanOrEqual(60)
})
