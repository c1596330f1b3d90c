// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { routerPodSelector } from '../resources/labels.ts'
import { metricsPort } from '../translate/object-names.ts'
import { type CommandIo, exitCodes } from './command-line.ts'

const help = `Asks the routers of RpcRouters.

Usage:
  kubectl rpc explain <guid> | --failed | --slow [flags of kubectl: -n, -A, --context, ...]
      Says why a call went where it went. The guid is in its header Rpc-Guid.
  kubectl rpc top [--once | --json] [flags of kubectl]
      Shows what all routers are doing, and what is wrong: router top over the fleet.
`

/**
 * `kubectl rpc`: lets `router explain` and `router top` ask the routers of a cluster, by kubectl
 * itself through the API server, with the kubeconfig and the rights of its user: list pods, get
 * pods/proxy.
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
  const isExplain = word === 'explain'
  if (!isExplain && word !== 'top') return refuse(`Unknown command ${JSON.stringify(word)}.`)
  if (isExplain && !/^(?:--failed|--slow|\w[\w-]{0,63})$/.test(rest[0] ?? ''))
    return refuse('Give one guid, --failed or --slow first.')
  const isOwn = (each: string, at: number) =>
    isExplain ? at === 0 : each === '--once' || each === '--json'
  const flags = rest.filter((each, at) => !isOwn(each, at))
  try {
    return await askRouters([word, ...rest.filter(isOwn)], flags, io.environment)
  } catch (error) {
    io.stderr.write(`kubectl rpc: error: ${(error as Error).message}\n`)
    return exitCodes.failed
  }
}

type Environment = CommandIo['environment']

/**
 * Runs a command of `router` at all routers, through a proxy of kubectl that passes nothing but
 * these pages of theirs.
 *
 * @param flags for kubectl
 * @throws Error for the user
 */
async function askRouters(command: readonly string[], flags: readonly string[], env: Environment) {
  const pods = await routersOf(flags, env)
  const pages = `--accept-paths=^/api/v1/namespaces/[^/]+/pods/[^/]+:${metricsPort}/proxy/(facts|explain)`
  // Without those that only lists have.
  const others = flags.filter((flag) => flag !== '-A' && flag !== '--all-namespaces')
  const started: ChildProcess[] = []
  // A proxy that outlives this program would leave the pods reachable, so the handler is there
  // before the proxy runs.
  process.once('SIGTERM', () => started.forEach((each) => each.kill()))
  const proxy = spawn('kubectl', ['proxy', '--port=0', pages, ...others], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.push(proxy)
  try {
    const first = await Promise.race([once(proxy.stdout, 'data'), once(proxy, 'exit')])
    const [said] = first as readonly unknown[]
    const [, port] = /:(\d+)\s*$/.exec(String(said)) ?? []
    if (port === undefined) throw new Error('kubectl proxy did not start')
    const at = pods.map((pod) => {
      const [namespace, name] = pod.split('/')
      const path = `api/v1/namespaces/${namespace}/pods/${name}:${metricsPort}/proxy`
      return `${pod}=http://127.0.0.1:${port}/${path}`
    })
    // It stands beside this program, in the sources as in the package.
    const router = join(dirname(realpathSync(process.argv[1] ?? '')), 'router.mjs')
    const shown = spawn(process.execPath, ['--', router, ...command, '--at', at.join(',')], {
      env,
      stdio: 'inherit',
    })
    started.push(shown)
    await once(shown, 'exit')
    return shown.exitCode ?? exitCodes.failed
  } finally {
    proxy.kill()
  }
}

/**
 * `namespace/name` of each router that runs. @throws Error with what kubectl has to say, or where
 * there is none
 */
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
    // Lines of its own log come before the error.
    const said = stderr.split('\n').find((line) => !/^(?:[EWI]\d{4} |$)/.test(line))
    throw new Error(said ?? message, { cause })
  }
  throw new Error('no router runs in this namespace; use -A for all namespaces')
}
