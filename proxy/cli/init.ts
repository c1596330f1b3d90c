// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { existsSync } from 'node:fs'
import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { usualInterface } from '../config/complete.ts'
import { parseConfig } from '../config/parse.ts'
import { knownChains, validateConfig } from '../validation/validate-config.ts'
import { type Problem, problemAt, whyUnwritable } from '../config/problem.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import { flagOf, isSocket, upstreamsOf, usualFile } from './config-source.ts'
import { testNodeOf } from './doctor/test-node.ts'
import { chainAt } from './find-chain.ts'
import type { CommandIo } from './validate.ts'

const nothing = 'nothing was written: the URL of a node is missing'
const example = 'Such as router init --url https://eth.example.com/v2/${KEY}'

/**
 * Writes a first config to a new file, and a file for its keys. On a terminal, it prompts for
 * whatever the flags omit.
 * @returns the exit code: 0; 1 if the file cannot be written; 2 for an invalid config
 */
export async function runInit(line: CommandLine, io: CommandIo): Promise<number> {
  const refuse = (problem: Problem, file = 'router', code: number = exitCodes.invalid) => {
    io.stderr.write(`${problemLine(file, problem)}\n`)
    return code
  }
  const catalog = await loadCatalog([])
  const answers = await completed(line, catalog, io)
  if (!answers) return refuse(problemAt('', null, nothing, example))
  if ('message' in answers) return refuse(answers)
  const test = await testNodeAt(answers, catalog)
  const chainId = test?.chain.id ?? answers.chainId
  const { path } = answers
  const text = firstConfig({ ...answers, chainId }, catalog)
  const problem = problemIn(text, catalog)
  // Line numbers of an unwritten file would mislead.
  if (problem) return refuse({ ...problem, path: flagOf(problem.path), line: null })
  try {
    if (path === null) io.stdout.write(text)
    // The file may contain keys, so only its owner can read it.
    else await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'it exists, and is left as it is' : whyUnwritable(error)
    const hint = exists ? 'Name another file, or remove it.' : null
    return refuse(problemAt('', null, why, hint), path ?? '', exitCodes.failed)
  }
  if (test)
    io.stderr.write(`${chainId}, which caches nothing: a test node answers (${test.words})\n`)
  const keysPath = path !== null && answers.keysPath
  if (keysPath) await writeKeys(keysPath, namesIn(answers.urls))
  const first = keysPath ? `write the keys into ${keysPath}, then ` : ''
  const file = path ?? 'FILE'
  io.stderr.write(`Next: ${first}router doctor ${file}, then router ${file}\n`)
  return exitCodes.done
}

/** Answers for a first config. */
interface Answers {
  readonly chainId: string
  readonly through: string | undefined
  readonly urls: readonly string[]
  /** Null: standard output. */
  readonly path: string | null
  /** File for the keys; null if no URL needs one. */
  readonly keysPath: string | null
}

/** Answers from flags, from the nodes and, on a terminal, from prompts. Null without a URL. */
async function completed(
  { positionals, own, flags }: CommandLine,
  catalog: ChainCatalog,
  io: CommandIo,
): Promise<Answers | Problem | null> {
  const { chain: [given] = [], interface: [through] = [] } = own
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY && io.stdout === process.stdout
  const prompts = isTerminal && !(own.url && given) ? await import('./ask.ts') : null
  const urls = own.url ?? (await prompts?.askUrls((some) => urlProblem(some, catalog)))
  if (!urls) return null
  const found = given === undefined ? await chainAt(urls, flags, io) : { id: given, name: '' }
  const reported = 'message' in found ? undefined : found
  const chainId =
    prompts && given === undefined ? await prompts.askChain(catalog.names, reported) : reported?.id
  if (chainId === undefined) return 'message' in found ? found : null
  const named = positionals[0] ?? (await prompts?.askFile(usualFile, existsSync))
  const path = named ?? null
  const isUnset = (name: string) => !io.environment[name]
  const needsKeys = path !== null && namesIn(urls).some(isUnset) && !flags['env-file']
  const keysPath = needsKeys ? join(dirname(path), 'keys.env') : null
  const isReported = reported && 'apiInterface' in reported && chainId === reported.id
  return {
    ...{ chainId, urls, path, keysPath: flags['env-file']?.[0] ?? keysPath },
    through: through ?? (isReported ? reported.apiInterface : undefined),
  }
}

/** Names of the placeholders in URLs. */
function namesIn(urls: readonly string[]): readonly string[] {
  const found = urls.flatMap((url) => [...url.matchAll(/\$(?:\{(\w+)\}|<(\w+)>)/g)])
  return [...new Set(found.map(([, braced, angled]) => braced ?? angled ?? ''))]
}

/** Creates the file for the keys, which only its owner can read, and keeps it out of Git. */
async function writeKeys(path: string, names: readonly string[]): Promise<void> {
  const ignore = join(dirname(path), '.gitignore')
  const ignored = await readFile(ignore, 'utf8').catch(() => '')
  if (!/^\/?keys\.env$/m.test(ignored)) {
    const newline = /[^\n]$/.test(ignored) ? '\n' : ''
    await appendFile(ignore, `${newline}keys.env\n`)
  }
  if (existsSync(path)) return
  await writeFile(path, names.map((name) => `${name}=\n`).join(''), { mode: 0o600 })
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
  const chains = knownChains(catalog)
  const parsed = parseConfig(filled, { environment: {}, flags: {}, chains })
  return validateConfig(parsed, { catalog, readText: () => null }).problems[0]
}

/** What is wrong with URLs, whatever their chain; undefined if nothing is. */
function urlProblem(urls: readonly string[], catalog: ChainCatalog): string | undefined {
  const chainId = urls.some((url) => /^grpcs?:/i.test(url)) ? 'HUBCHAIN' : 'ETH1'
  const answers = { chainId, through: undefined, urls, path: null, keysPath: null }
  const problem = problemIn(firstConfig(answers, catalog), catalog)
  return problem && [problem.message, problem.hint].filter((each) => each !== null).join('. ')
}

/** The text of a commented config. Validation reports invalid names later, as for any config. */
function firstConfig({ chainId, through, urls, keysPath }: Answers, catalog: ChainCatalog): string {
  const chain = catalog.find(chainId)
  const usual = usualInterface(chain, urls)
  const [first = 'jsonrpc'] = chain?.interfaces.keys() ?? []
  const named = through ?? usual ?? first
  const served = `    chain-id: ${chain?.id ?? chainId}\n`
  const iface = named === usual ? '' : `    api-interface: ${named}\n`
  const upstreams = upstreamsOf(urls).map(([name, own]) => {
    const lines = own.map((url) => `      - url: ${JSON.stringify(url)}\n`)
    return `  - name: ${name}\n${served}${iface}    node-urls:\n${lines.join('')}`
  })
  const ofSockets = `# There is no WebSocket URL above: a client that subscribes gets an error.
skip-websocket-verification: true
`
  return `# Applications find the chain at http://127.0.0.1:3360; http://127.0.0.1:7779 shows its nodes.
# router config FILE prints all that this file means.

# Nodes and their URLs. A running router applies changes.
# List the add-ons of a URL below it, such as addons: [archive]; router doctor finds them.
direct-rpc:
${upstreams.join('')}
# Keys: write \${NAME} in their place, and NAME=value into this file.
${keysPath ? '' : '# '}env-file: ${JSON.stringify(keysPath ?? 'keys.env').replaceAll('"', '')}
${urls.some(isSocket) ? '' : ofSockets}`
}
