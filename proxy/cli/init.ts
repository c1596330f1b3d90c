// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { SpecError } from '../chain/document.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { checkChains } from '../config/check-chains.ts'
import { parseConfig } from '../config/parse.ts'
import { problemAt, whyUnwritable, type Problem } from '../config/problem.ts'
import type { ApiInterface } from '../config/types.ts'
import { subscriptionFormOf } from '../subscription/families/family-of.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

/** What `router init` was asked, by flags or on a terminal. */
export interface InitArguments {
  /** Where the config is written; null: standard output, or a file that is asked for. Undefined: no answer came. */
  readonly path: string | null | undefined
  readonly specs: readonly string[]
  readonly chain?: readonly string[]
  readonly interface?: readonly string[]
  readonly url?: readonly string[]
}

const nothing = 'nothing was written: a chain and a URL are needed'
const example = 'Such as router init --chain ETH1 --url https://eth.example.com/v2/${KEY}'

/**
 * Writes a first config, and no file that exists. What no flag says it asks for, on a terminal.
 * @returns the exit code: 0; 1 when the file cannot be written; 2 for what cannot be a config
 */
export async function runInit(request: InitArguments, io: CommandIo): Promise<number> {
  const refuse = (problems: readonly Problem[]) => {
    // What is wrong with the chain is wrong with its listener and with each upstream.
    for (const [first] of Map.groupBy(problems, ({ message }) => message).values())
      // Lines of a file that is not there would mislead.
      if (first) io.stderr.write(`${problemLine('router', { ...first, line: null })}\n`)
    return exitCodes.invalid
  }
  const { chain, url: urls = [], path } = await completed(request, io)
  const [chainId] = chain ?? []
  if (chainId === undefined || urls.length === 0 || path === undefined)
    return refuse([problemAt('', null, nothing, example)])
  try {
    const catalog = await loadCatalog(request.specs)
    const text = firstConfig(chainId, urls, request, catalog)
    // Something stands in for each placeholder: their values are not there yet.
    const scheme = text.includes('api-interface: grpc') ? 'grpc' : 'http'
    const filled = text.replaceAll(/("?)\$(?:\{\w+\}|<\w+>)/g, (_, atStart) =>
      atStart ? `"${scheme}://x` : 'x',
    )
    const { problems, entries, locate } = parseConfig(filled, { environment: {}, flags: {} })
    const all = [...problems, ...checkChains(entries, catalog, locate)]
    return all.length > 0 ? refuse(all) : await put(text, path, io)
  } catch (error) {
    if (error instanceof SpecError) return refuse(error.problems)
    throw error
  }
}

/** Keys may be in it, so a file is for its owner alone. */
async function put(text: string, path: string | null, io: CommandIo): Promise<number> {
  try {
    if (path === null) io.stdout.write(text)
    else await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'it exists, and is left as it is' : whyUnwritable(error)
    io.stderr.write(`${problemLine(path ?? '', problemAt('', null, why))}\n`)
    return exitCodes.failed
  }
  const file = path ?? 'FILE'
  io.stderr.write(`Next: router validate ${file}, then router doctor ${file}\n`)
  return exitCodes.done
}

/** Asks for what no flag says, on a terminal, line by line, until the input ends. */
async function completed(request: InitArguments, io: CommandIo): Promise<InitArguments> {
  const { chain, url = [], path } = request
  if ((chain && url.length > 0) || !io.stdin?.isTTY) return request
  const reader = createInterface({ input: io.stdin })
  const lines = reader[Symbol.asyncIterator]()
  const answer = async (question: string, otherwise = ''): Promise<string | undefined> => {
    io.stderr.write(question)
    const { value, done } = await lines.next()
    return done ? undefined : value.trim() || otherwise
  }
  try {
    const chainId = chain?.[0] ?? (await answer('Chain [ETH1]: ', 'ETH1'))
    const urls = [...url]
    if (urls.length === 0) {
      io.stderr.write('URLs of its nodes, an empty line ends. Write ${NAME} for a key.\n')
      for (let each = await answer('URL: '); each; each = await answer('URL: ')) urls.push(each)
    }
    // Redirected, it goes where the user sent it.
    const isAsked = path === null && io.stdout.isTTY === true
    const file = isAsked ? await answer('File [config.yml]: ', 'config.yml') : path
    return { ...request, chain: chainId === undefined ? [] : [chainId], url: urls, path: file }
  } finally {
    reader.close()
  }
}

/** The text of a config with its explanations. What is wrong with a name is said of the config, as of any other. */
function firstConfig(
  chainId: string,
  urls: readonly string[],
  { interface: [through] = [], specs }: InitArguments,
  catalog: ChainCatalog,
): string {
  const chain = catalog.find(chainId)
  const byUrl = urls.some((url) => /^grpcs?:/i.test(url)) ? 'grpc' : 'jsonrpc'
  const [first = byUrl] = chain?.interfaces.keys() ?? []
  const apiInterface = (through ?? (chain?.interfaces.has(byUrl) ? byUrl : first)) as ApiInterface
  const iface = chain?.interfaces.get(apiInterface)
  const served = `    chain-id: ${chain?.id ?? chainId}\n    api-interface: ${apiInterface}\n`
  const upstreams = upstreamsOf(urls).map(([name, own]) => {
    const lines = own.map((url) => `      - url: ${JSON.stringify(url)}\n`)
    return `  - name: ${name}\n${served}    node-urls:\n${lines.join('')}`
  })
  const addons = [...(iface?.addons ?? [])].join(', ')
  const ofAddons = `        # What a URL serves beyond the standard methods; router doctor says which.
        # addons: [${addons}]
`
  const lacksSockets = chain && iface && subscriptionFormOf(chain, iface) && !urls.some(isSocket)
  const ofSockets = `# There is no WebSocket URL above: a client that subscribes gets an error.
skip-websocket-verification: true
`
  const ofSpecs = specs.map((each) => `  - ${JSON.stringify(each)}\n`).join('')
  return `# Check it: router validate FILE. Ask its nodes what they serve: router doctor FILE. Start: router FILE
# Keys: write \${NAME} in their place, and NAME=value into a file: router FILE --env-file keys.env

# Where applications find the chain.
endpoints:
  - network-address: 127.0.0.1:3360
${served}
# Its nodes, each with the URLs by which it is reached. Changes are taken over while the router runs.
direct-rpc:
${upstreams.join('')}${addons && ofAddons}
# Metrics and health.
metrics-listen-address: 127.0.0.1:7779
${lacksSockets ? ofSockets : ''}${ofSpecs && `use-static-spec:\n${ofSpecs}`}`
}

const isSocket = (url: string) => /^wss?:/i.test(url)
const hostOf = (url: string) => URL.parse(url.replace(/^(?:grpc|ws)/i, 'http'))?.hostname ?? ''

/** Names of upstreams with their URLs: one each, but a WebSocket URL joins one of the same host that has none. */
function upstreamsOf(urls: readonly string[]): readonly [name: string, urls: string[]][] {
  const upstreams: [name: string, urls: string[]][] = []
  for (const url of urls.toSorted((a, b) => Number(isSocket(a)) - Number(isSocket(b)))) {
    const host = hostOf(url)
    const own = upstreams.find(([, each]) => !each.some(isSocket) && hostOf(each[0] ?? '') === host)
    // `example` of `eth.example.com`, `node` of an address.
    const [, name = 'node'] = /([a-z0-9-]+)\.[a-z][a-z0-9-]*$/.exec(host) ?? []
    if (isSocket(url) && own) own[1].push(url)
    else upstreams.push([`${name}-${upstreams.length + 1}`, [url]])
  }
  return upstreams
}
