// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { SpecError } from '../chain/document.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { checkChains } from '../config/check-chains.ts'
import { parseConfig } from '../config/parse.ts'
import { problemAt, whyUnreadable, type Problem } from '../config/problem.ts'
import type { ApiInterface } from '../config/types.ts'
import { subscriptionFormOf } from '../subscription/families/family-of.ts'
import { firstConfig } from './init/first-config.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

/** What `router init` was asked. */
export interface InitArguments {
  /** Where the config is written; null: standard output, or a file that is asked for. */
  readonly path: string | null
  readonly specs: readonly string[]
  readonly chain?: readonly string[]
  readonly interface?: readonly string[]
  readonly url?: readonly string[]
}

/** What is to be written, and where. */
interface Wishes {
  readonly chainId: string
  readonly urls: readonly string[]
  readonly path: string | null
}

const nothing = 'nothing was written: a chain and a URL are needed'
const example = 'Such as router init --chain ETH1 --url https://eth.example.com/v2/${KEY}'

/**
 * Writes a first config, and no file that exists. Without flags it asks, on a terminal.
 * @returns the exit code: 0; 1 when the file cannot be written; 2 for what cannot be a config
 */
export async function runInit(request: InitArguments, io: CommandIo): Promise<number> {
  const refuse = (problems: readonly Problem[]) => {
    // Lines of a file that is not there would mislead.
    for (const each of problems)
      io.stderr.write(`${problemLine('router', { ...each, line: null })}\n`)
    return exitCodes.invalid
  }
  const { chain: [chainId] = [], url: urls = [], interface: [through] = [], specs, path } = request
  let wishes: Wishes | null = null
  if (chainId !== undefined && urls.length > 0) wishes = { chainId, urls, path }
  else if (chainId === undefined && urls.length === 0) wishes = await ask(path, io)
  if (!wishes) return refuse([problemAt('', null, nothing, example)])
  try {
    const catalog = await loadCatalog(specs)
    const text = textOf(wishes, through, specs, catalog)
    const parsed = parseConfig(text, { environment: standIns(text), flags: {} })
    const { entries, locate } = parsed
    const problems = [...parsed.problems, ...checkChains(entries, catalog, locate)]
    // What is wrong with the chain is wrong with its listener and with each upstream.
    const once = problems.filter(
      ({ message }, at) => problems.findIndex((each) => each.message === message) === at,
    )
    return once.length > 0 ? refuse(once) : await put(text, wishes.path, io)
  } catch (error) {
    if (error instanceof SpecError) return refuse(error.problems)
    throw error
  }
}

function textOf(
  { chainId, urls }: Wishes,
  through: string | undefined,
  specs: readonly string[],
  catalog: ChainCatalog,
): string {
  const chain = catalog.find(chainId)
  const all = [...(chain?.interfaces.keys() ?? [])]
  const byUrl = urls.some((url) => /^grpcs?:/i.test(url)) ? 'grpc' : 'jsonrpc'
  // What is wrong with a name is said of the config, as it is of any other.
  const apiInterface = (through ??
    all.find((each) => each === byUrl) ??
    all[0] ??
    byUrl) as ApiInterface
  const iface = chain?.interfaces.get(apiInterface)
  return firstConfig({
    ...{ chainId: chain?.id ?? chainId, apiInterface, urls, specs },
    addons: [...(iface?.addons ?? [])],
    hasSubscriptions: Boolean(chain && iface && subscriptionFormOf(chain, iface)),
  })
}

/** Something for each placeholder: their values are not there yet. */
function standIns(text: string): Readonly<Record<string, string>> {
  const names = text.match(/(?<=\$[{<])\w+(?=[}>])/g) ?? []
  const url = text.includes('api-interface: grpc') ? 'grpc://x' : 'http://x'
  const isAtStart = (name: string) => ['{', '<'].some((each) => text.includes(`"$${each}${name}`))
  return Object.fromEntries(names.map((name) => [name, isAtStart(name) ? url : 'x']))
}

/** Keys may be in it, so a file is for its owner alone. */
async function put(text: string, path: string | null, io: CommandIo): Promise<number> {
  try {
    if (path === null) io.stdout.write(text)
    else await writeFile(path, text, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    const exists = (error as NodeJS.ErrnoException).code === 'EEXIST'
    const why = exists ? 'it exists, and is left as it is' : whyUnreadable(error)
    io.stderr.write(`${problemLine(path ?? '', problemAt('', null, why))}\n`)
    return exitCodes.failed
  }
  const file = path ?? 'FILE'
  io.stderr.write(`Next: router validate ${file}, then router doctor ${file}\n`)
  return exitCodes.done
}

/** Asks on the terminal, line by line. @returns null without one, or when the input ends */
async function ask(path: string | null, io: CommandIo): Promise<Wishes | null> {
  if (!io.stdin?.isTTY) return null
  const reader = createInterface({ input: io.stdin })
  const lines = reader[Symbol.asyncIterator]()
  const answer = async (question: string): Promise<string | undefined> => {
    io.stderr.write(question)
    return (await lines.next()).value?.trim()
  }
  try {
    const chainId = await answer('Chain [ETH1]: ')
    io.stderr.write('URLs of its nodes, an empty line ends. Write ${NAME} for a key.\n')
    const urls: string[] = []
    for (let url = await answer('URL: '); url; url = await answer('URL: ')) urls.push(url)
    // Redirected, it goes where the user sent it.
    const isAsked = path === null && io.stdout.isTTY === true
    const file = isAsked ? await answer('File [config.yml]: ') : path
    if (chainId === undefined || urls.length === 0 || file === undefined) return null
    return { chainId: chainId || 'ETH1', urls, path: isAsked ? file || 'config.yml' : file }
  } finally {
    reader.close()
  }
}
