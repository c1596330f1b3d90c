// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { routerPodSelector } from '../resources/labels.ts'
import { metricsPort } from '../translate/object-names.ts'
import { type CommandIo, exitCodes } from './command-line.ts'

/** One word after `kubectl rpc`. */
interface Subcommand {
  readonly usage: string
  readonly about: string
  /** @param args what follows the word @returns the exit code @throws Error for the user */
  run(args: readonly string[], io: CommandIo): Promise<number>
}

const subcommands: Readonly<Record<string, Subcommand>> = {
  explain: {
    usage: 'explain <guid> | --failed | --slow [flags of kubectl: -n, -A, --context, ...]',
    about: 'Says why a call went where it went. The guid is in its header Rpc-Guid.',
    run: explain,
  },
  top: {
    usage: 'top [--once | --json] [flags of kubectl]',
    about: 'Shows what all routers are doing, and what is wrong: `router top` over the fleet.',
    run: top,
  },
}

/**
 * `kubectl rpc`: asks the routers of a cluster by kubectl itself, through the API server, with the kubeconfig and the
 * rights of its user: list pods, get pods/proxy.
 * @returns the exit code
 */
export async function kubectl(args: readonly string[], io: CommandIo): Promise<number> {
  const [word = '--help', ...rest] = args
  const subcommand = Object.hasOwn(subcommands, word) ? subcommands[word] : undefined
  if (['--help', '-h'].some((flag) => flag === word || rest.includes(flag))) {
    const all = Object.values(subcommands).map(
      ({ usage, about }) => `  kubectl rpc ${usage}\n      ${about}\n`,
    )
    io.stdout.write(`Asks the routers of RpcRouters.\n\nUsage:\n${all.join('')}`)
    return exitCodes.done
  }
  if (!subcommand) return refuse(`Unknown command ${JSON.stringify(word)}.`, io)
  try {
    return await subcommand.run(rest, io)
  } catch (error) {
    io.stderr.write(`kubectl rpc: error: ${(error as Error).message}\n`)
    return exitCodes.failed
  }
}

async function explain([what = '', ...flags]: readonly string[], io: CommandIo): Promise<number> {
  const isList = what === '--failed' || what === '--slow'
  if (!isList && !/^\w[\w-]{0,63}$/.test(what))
    return refuse('One guid comes first, or --failed, or --slow.', io)
  const query = isList ? `?${what.slice(2)}&format=text` : `/${what}?format=text`
  const answers = await askRouters(`/explain${query}`, flags, io)
  const found = answers.filter(({ text }) => text !== null)
  for (const { pod, text } of found) io.stdout.write(isList ? `${pod}\n${text}\n` : `${text}`)
  if (isList ? found.length === answers.length : found.length > 0) return exitCodes.done
  for (const { pod, fault } of answers)
    if (fault !== null) io.stderr.write(`kubectl rpc: error: ${pod}: ${fault}\n`)
  return exitCodes.failed
}

function refuse(why: string, io: CommandIo): number {
  io.stderr.write(`kubectl rpc: error: ${why} See kubectl rpc --help.\n`)
  return exitCodes.invalid
}

const podsAtOnce = 8

/** Asks each router for a page of its admin port. @param flags for kubectl */
async function askRouters(path: string, flags: readonly string[], io: CommandIo) {
  const listed = await routersOf(flags, io)
  const others = ofAnyCommand(flags)
  const ask = async (pod: string) => {
    const [namespace, name] = pod.split('/')
    const page = `/api/v1/namespaces/${namespace}/pods/${name}:${metricsPort}/proxy${path}`
    try {
      const text = await run(['get', '--raw', page, '--request-timeout=10s', ...others], io)
      return { pod, text, fault: null }
    } catch (error) {
      return { pod, text: null, fault: (error as Error).message }
    }
  }
  const answers = []
  for (let at = 0; at < listed.length; at += podsAtOnce)
    answers.push(...(await Promise.all(listed.slice(at, at + podsAtOnce).map(ask))))
  return answers
}

/** `namespace/name` of each router that runs. @throws Error where there is none */
async function routersOf(flags: readonly string[], io: CommandIo): Promise<readonly string[]> {
  const names = '-o=jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}'
  const pods = ['get', 'pods', '-l', routerPodSelector, '--field-selector=status.phase=Running']
  const listed = (await run([...pods, names, ...flags], io)).split(' ').filter((pod) => pod !== '')
  if (listed.length === 0) throw new Error('no router runs in this namespace; -A looks in all')
  return listed
}

/** Without those that only lists have. */
function ofAnyCommand(flags: readonly string[]): readonly string[] {
  return flags.filter((flag) => flag !== '-A' && flag !== '--all-namespaces')
}

/** Lets `router top` read all routers through a proxy of kubectl, which passes nothing but these pages of theirs. */
async function top(args: readonly string[], io: CommandIo): Promise<number> {
  const own = args.filter((flag) => flag === '--once' || flag === '--json')
  const flags = args.filter((flag) => flag !== '--once' && flag !== '--json')
  const pods = await routersOf(flags, io)
  const env = io.environment
  const pages = `--accept-paths=^/api/v1/namespaces/[^/]+/pods/[^/]+:${metricsPort}/proxy/(facts|explain)`
  const proxy = spawn('kubectl', ['proxy', '--port=0', pages, ...ofAnyCommand(flags)], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [said] = (await Promise.race([once(proxy.stdout, 'data'), once(proxy, 'exit')])) as [
      unknown,
    ]
    const [, port] = /:(\d+)\s*$/.exec(String(said)) ?? []
    if (port === undefined) throw new Error('kubectl proxy did not start')
    const at = pods.map((pod) => {
      const [namespace, name] = pod.split('/')
      const path = `api/v1/namespaces/${namespace}/pods/${name}:${metricsPort}/proxy`
      return `${pod}=http://127.0.0.1:${port}/${path}`
    })
    // It stands beside this program, in the sources as in the package.
    const router = join(dirname(realpathSync(process.argv[1] ?? '')), 'router.mjs')
    const command = ['--', router, 'top', '--at', at.join(','), ...own]
    const shown = spawn(process.execPath, command, { env, stdio: 'inherit' })
    await once(shown, 'exit')
    return shown.exitCode ?? exitCodes.failed
  } finally {
    proxy.kill()
  }
}

/** What kubectl prints. @throws Error with what it has to say */
async function run(args: readonly string[], { environment: env }: CommandIo): Promise<string> {
  try {
    const options = { env, maxBuffer: 4 * 1024 * 1024 }
    return (await promisify(execFile)('kubectl', args, options)).stdout
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { readonly stderr?: string }
    // Lines of its own log come before the error.
    const said = stderr.split('\n').find((line) => line !== '' && !/^[EWI]\d{4} /.test(line))
    // The words of the pod itself are not passed on.
    const isUnknown = /\(NotFound\)/.test(said ?? '')
    throw new Error(isUnknown ? 'no call has this guid there (any more)' : (said ?? message), {
      cause,
    })
  }
}
