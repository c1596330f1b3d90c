// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type Command, commandRows, ownFlagsOf, ownRows } from '../../proxy/cli/commands.ts'
import { routerPodSelector } from '../resources/labels.ts'
import { metricsPort } from '../translate/object-names.ts'
import { type CommandIo, exitCodes } from './command-line.ts'

/** The flags of a command of `router`, except for the addresses, which are those of the pods. */
const flagsOf = (command: Command) => ownFlagsOf(command).filter((name) => name !== 'at')

const help = `Queries the pods of RpcRouters, like the commands of router.

Usage: kubectl rpc <command> [flags] [flags of kubectl: -n, -A, --context, ...]
${(['explain', 'top'] as const).map(commandHelp).join('')}`

function commandHelp(command: Command): string {
  const { argument, text } = commandRows[command]
  const rows = flagsOf(command).map((name) => {
    const { valueName, text: ofFlag } = ownRows[name]
    return `  ${`--${name}${valueName === null ? '' : ` <${valueName}>`}`.padEnd(18)} ${ofFlag}\n`
  })
  return `\nkubectl rpc ${[command, ...(argument ? [argument] : [])].join(' ')}\n  ${text}\n${rows.join('')}`
}

/**
 * Runs `kubectl rpc`: `router explain` and `router top` for the routers in a cluster. It uses
 * kubectl, with its user's kubeconfig and permissions: list pods, get pods/proxy.
 * @returns the exit code
 */
export async function kubectl(args: readonly string[], io: CommandIo): Promise<number> {
  const [word = '--help', ...rest] = args
  const refuse = (why: string) => {
    io.stderr.write(`kubectl rpc: error: ${why} See kubectl rpc --help.\n`)
    return exitCodes.invalid
  }
  if (['--help', '-h'].some((flag) => flag === word || rest.includes(flag))) {
    io.stdout.write(help)
    return exitCodes.done
  }
  if (word !== 'explain' && word !== 'top')
    return refuse(`Unknown command ${JSON.stringify(word)}.`)
  const isFlag = (each = '') => flagsOf(word).some((name) => each.split('=')[0] === `--${name}`)
  const takesNext = (each = '') =>
    flagsOf(word).some((name) => each === `--${name}` && ownRows[name].valueName !== null)
  const isGuid = (each: string) => word === 'explain' && /^\w[\w-]{0,63}$/.test(each)
  const isOwn = (each: string, at: number) =>
    isFlag(each) || takesNext(rest[at - 1]) || (at === 0 && isGuid(each))
  if (word === 'explain' && !isOwn(rest[0] ?? '', 0))
    return refuse('Give a guid or a flag of explain first.')
  const flags = rest.filter((each, at) => !isOwn(each, at))
  try {
    return await queryRouters([word, ...rest.filter(isOwn)], flags, io.environment)
  } catch (error) {
    io.stderr.write(`kubectl rpc: error: ${(error as Error).message}\n`)
    return exitCodes.failed
  }
}

type Environment = CommandIo['environment']

/**
 * Runs a `router` command for all routers, through a `kubectl proxy` limited to the pages it needs.
 * @param flags for kubectl
 * @throws Error to show to the user
 */
async function queryRouters(
  command: readonly string[],
  flags: readonly string[],
  env: Environment,
) {
  const pods = await routersOf(flags, env)
  const pages = `--accept-paths=^/api/v1/namespaces/[^/]+/pods/[^/]+:${metricsPort}/proxy/(facts|explain)`
  // kubectl proxy lacks these flags of kubectl get.
  const others = flags.filter((flag) => flag !== '-A' && flag !== '--all-namespaces')
  const started: ChildProcess[] = []
  // Registered before the proxy starts: a proxy that outlives this program leaves the pods
  // reachable.
  process.once('SIGTERM', () => started.forEach((each) => each.kill()))
  const proxy = spawn('kubectl', ['proxy', '--port=0', pages, ...others], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(proxy)
  try {
    const first = await Promise.race([once(proxy.stdout, 'data'), once(proxy, 'exit')])
    const [output] = first as readonly unknown[]
    const [, port] = /:(\d+)\s*$/.exec(String(output)) ?? []
    if (port === undefined) throw new Error('kubectl proxy did not start')
    const at = pods.map((pod) => {
      const [namespace, name] = pod.split('/')
      const path = `api/v1/namespaces/${namespace}/pods/${name}:${metricsPort}/proxy`
      return `${pod}=http://127.0.0.1:${port}/${path}`
    })
    // router.mjs is next to this program, both in the sources and in the package.
    const router = join(dirname(realpathSync(process.argv[1] ?? '')), 'router.mjs')
    const child = spawn(process.execPath, ['--', router, ...command, '--at', at.join(',')], {
      env,
      stdio: 'inherit',
    })
    started.push(child)
    await once(child, 'exit')
    return child.exitCode ?? exitCodes.failed
  } finally {
    proxy.kill()
  }
}

/** Lists running routers as `namespace/name`. @throws Error from kubectl, or if none runs */
async function routersOf(flags: readonly string[], env: Environment): Promise<readonly string[]> {
  const names = '-o=jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}'
  const pods = ['get', 'pods', '-l', routerPodSelector, '--field-selector=status.phase=Running']
  try {
    const options = { env, maxBuffer: 4 * 1024 * 1024 }
    const { stdout } = await promisify(execFile)('kubectl', [...pods, names, ...flags], options)
    const listed = stdout.split(' ').filter((pod) => pod !== '')
    if (listed.length > 0) return listed
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { readonly stderr?: string }
    // kubectl prints log lines before the error.
    const line = stderr.split('\n').find((text) => !/^(?:[EWI]\d{4} |$)/.test(text))
    throw new Error(line ?? message, { cause })
  }
  throw new Error('no router runs in this namespace; use -A for all namespaces')
}
