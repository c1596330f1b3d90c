// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { parseConfig } from '../config/parse.ts'
import { validateConfig } from '../validation/validate-config.ts'
import { type Problem, problemAt, whyUnwritable } from '../config/problem.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import { testNodeOf } from './doctor/test-node.ts'
import type { CommandIo } from './validate.ts'

const nothing = 'nothing was written: a chain and a URL are needed'
const example = 'Such as router init --chain ETH1 --url https://eth.example.com/v2/${KEY}'
const ofUrls = 'URLs of its nodes, with spaces between, ${NAME} in place of a key:'

/**
 * Writes a first config to a new file. On a terminal, it prompts for whatever the flags omit.
 * @returns the exit code: 0; 1 if the file cannot be written; 2 for an invalid config
 */
export async function runInit({ positionals, own }: CommandLine, io: CommandIo): Promise<number> {
  const refuse = (problem: Problem, file = 'router', code: number = exitCodes.invalid) => {
    io.stderr.write(`${problemLine(file, problem)}\n`)
    return code
  }
  const catalog = await loadCatalog([])
  const answers = await completed(positionals[0] ?? null, own, catalog)
  const test = answers && (await testNodeAt(answers, catalog))
  const chainId = test?.chain.id ?? answers?.chainId
  if (!answers || !chainId) return refuse(problemAt('', null, nothing, example))
  const text = firstConfig({ ...answers, chainId }, catalog)
  const problem = problemIn(text, catalog)
  // Line numbers of an unwritten file would mislead.
  if (problem) return refuse({ ...problem, line: null })
  const { path } = answers
  try {
    if (path === null) io.stdout.write(text)
    // The file may contain keys, so only its owner can read it.
    else await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'it exists, and is left as it is' : whyUnwritable(error)
    return refuse(problemAt('', null, why), path ?? '', exitCodes.failed)
  }
  if (test)
    io.stderr.write(`${chainId}, which caches nothing: a test node answers (${test.words})\n`)
  const file = path ?? 'FILE'
  io.stderr.write(`Next: router validate ${file}, then router doctor ${file}\n`)
  return exitCodes.done
}

/** Answers for a first config. */
type Answers = NonNullable<Awaited<ReturnType<typeof completed>>>

/** Answers from flags and, on a terminal, from prompts. Null if something is missing. */
async function completed(
  path: string | null,
  { chain: [given] = [], url, interface: [through] = [] }: CommandLine['own'],
  { ids }: ChainCatalog,
) {
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  if (url && (given || !isTerminal)) return { chainId: given, through, urls: url, path }
  if (!isTerminal) return null
  const { ask } = await import('./ask.ts')
  const choices = [...new Set(['ETH1', ...ids])]
  const chainId = given ?? (await ask('Chain:', { choices }))
  if (!chainId) return null
  const urls = url ?? (await ask(ofUrls))?.split(/\s+/)
  if (!urls?.[0]) return null
  const file = path ?? (await ask('File:', { otherwise: 'config.yml' }))
  return file ? { chainId, through, urls, path: file } : null
}

/** Matches local hosts, where test nodes run. Nothing is sent to a provider's host. */
const nearby = /^https?:\/\/([^./]+|[\d.]+)(:\d+)?(\/|$)/

/** The first test node among the URLs of a caching EVM chain. Skips nodes slower than a second. */
async function testNodeAt({ chainId, urls }: Answers, catalog: ChainCatalog) {
  const chain = catalog.find(chainId ?? 'ETH1')
  if (chain?.family !== 'evm' || !chain.cacheable) return null
  for (const url of urls.filter((each) => nearby.test(each))) {
    const ask = async (method: string) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
      const [headers, signal] = [{ 'content-type': 'application/json' }, AbortSignal.timeout(1_000)]
      const answer = await fetch(url, { method: 'POST', headers, body, signal })
      return ((await answer.json()) as { readonly result?: unknown } | null)?.result
    }
    const found = await testNodeOf(ask, catalog).catch(() => null)
    if (found) return found
  }
  return null
}

/** The first problem of a config whose placeholders have no values yet. */
function problemIn(text: string, catalog: ChainCatalog) {
  // Fills each placeholder with a sample value.
  const scheme = text.includes('api-interface: grpc') ? 'grpc' : 'http'
  const filled = text.replaceAll(/("?)\$(?:\{\w+\}|<\w+>)/g, (_, atStart) =>
    atStart ? `"${scheme}://x` : 'x',
  )
  const parsed = parseConfig(filled, { environment: {}, flags: {} })
  return validateConfig(parsed, { catalog, readText: () => null }).problems[0]
}

/** The text of a commented config. Validation reports invalid names later, as for any config. */
function firstConfig({ chainId = '', through, urls }: Answers, catalog: ChainCatalog): string {
  const chain = catalog.find(chainId)
  const byUrl = urls.some((url) => /^grpcs?:/i.test(url)) ? 'grpc' : 'jsonrpc'
  const [first = byUrl] = chain?.interfaces.keys() ?? []
  const apiInterface = through ?? (chain?.interfaces.has(byUrl) ? byUrl : first)
  const served = `    chain-id: ${chain?.id ?? chainId}\n    api-interface: ${apiInterface}\n`
  const upstreams = upstreamsOf(urls).map(([name, own]) => {
    const lines = own.map((url) => `      - url: ${JSON.stringify(url)}\n`)
    return `  - name: ${name}\n${served}    node-urls:\n${lines.join('')}`
  })
  const ofSockets = `# There is no WebSocket URL above: a client that subscribes gets an error.
skip-websocket-verification: true
`
  return `# Keys: write \${NAME} in their place, and NAME=value into a file: router FILE --env-file keys.env

# Where applications find the chain.
endpoints:
  - network-address: 127.0.0.1:3360
${served}
# Its nodes and their URLs. A running router applies changes.
# List the add-ons of a URL below it, such as addons: [archive]; router doctor finds them.
direct-rpc:
${upstreams.join('')}
# Metrics and health.
metrics-listen-address: 127.0.0.1:7779
${urls.some(isSocket) ? '' : ofSockets}`
}

const isSocket = (url: string) => /^wss?:/i.test(url)
const hostOf = (url: string) => URL.parse(url.replace(/^(?:grpc|ws)/i, 'http'))?.hostname ?? ''

/** One upstream per URL, except that a WebSocket URL joins an upstream on the same host. */
function upstreamsOf(urls: readonly string[]): readonly [name: string, urls: string[]][] {
  const upstreams: [name: string, urls: string[]][] = []
  for (const url of urls.toSorted((a, b) => Number(isSocket(a)) - Number(isSocket(b)))) {
    const host = hostOf(url)
    const own = upstreams.find(([, each]) => !each.some(isSocket) && hostOf(each[0] ?? '') === host)
    // Takes `example` from `eth.example.com`, and `node` for an IP address.
    const [, name = 'node'] = /([a-z0-9-]+)\.[a-z][a-z0-9-]*$/.exec(host) ?? []
    if (isSocket(url) && own) own[1].push(url)
    else upstreams.push([`${name}-${upstreams.length + 1}`, [url]])
  }
  return upstreams
}
