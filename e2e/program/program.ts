// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { freePort } from '../processes/free-ports.ts'
import { waitUntil } from '../processes/eventually.ts'
import { longEpoch } from '../processes/router-config.ts'
import type { Workspace } from './workspace.ts'

/** The entry of the bundle that `make test` builds, or of the sources if they are newer. */
const usualEntry = fileURLToPath(new URL('../../bin/router.mjs', import.meta.url))
const startTimeoutMs = 150_000

/** The result of a run of the program. */
export interface Ended {
  /** Exit code, or the signal that ended the program. */
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** Environment of the program. It does not inherit `SR_*` variables of this process. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Entry file of the program. Default: that of this checkout. */
  readonly entry?: string
  /** Limit of open files. Default: that of this process. */
  readonly maxFiles?: number
}

/** Runs a command line of the program to its end. */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Ended> {
  return new Program(args, surroundings).ended
}

/**
 * Starts the program and waits until its listeners are open.
 * @param config as in the file, with defaults for `metrics-listen-address` and `epoch-duration`
 */
export async function startProgram(
  workspace: Workspace,
  config: Readonly<Record<string, unknown>>,
  surroundings: Surroundings & { readonly flags?: readonly string[] } = {},
): Promise<Program> {
  const adminAddress = `127.0.0.1:${await freePort()}`
  const file = await workspace.write('router.yml', {
    'metrics-listen-address': adminAddress,
    'epoch-duration': longEpoch(),
    ...config,
  })
  const { flags = [] } = surroundings
  await using starting = new AsyncDisposableStack()
  const program = starting.use(new Program([file, ...flags], surroundings, adminAddress))
  await program.logged('router started')
  starting.move()
  return program
}

/** The running program, and its output so far. `await using` ends it. */
export class Program implements AsyncDisposable {
  stdout = ''
  stderr = ''
  /** URL of metrics and health. */
  readonly adminUrl: string
  readonly ended: Promise<Ended>
  readonly #child: ChildProcess
  readonly #over = new AbortController()

  constructor(args: readonly string[], surroundings: Surroundings, adminAddress = '') {
    const { env = {}, cwd, entry = usualEntry, maxFiles } = surroundings
    this.adminUrl = `http://${adminAddress}`
    const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SR_'))
    // Like bin/router.mjs: without "--" Node would parse --env-file as its own flag.
    const run = [process.execPath, '--', entry, ...args]
    const limited = ['sh', '-c', `ulimit -n ${maxFiles} && exec "$@"`, 'sh', ...run]
    const [command = '', ...rest] = maxFiles === undefined ? run : limited
    const child = spawn(command, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...Object.fromEntries(inherited), ...env },
      ...(cwd === undefined ? {} : { cwd }),
    })
    this.#child = child
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = once(child, 'close').then(([code, signal]: (number | NodeJS.Signals)[]) => {
      const { stdout, stderr } = this
      this.#over.abort(new Error(`it ended: ${stdout}${stderr}`))
      return { code: code ?? signal ?? 'SIGKILL', stdout, stderr }
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** URLs of the listeners, in the order of the config file. */
  get urls(): readonly string[] {
    const addresses = this.stdout.matchAll(/address(?:=|":")([\d.]+:\d+)/g)
    return [...addresses].map(([, address]) => `http://${address}`)
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Waits until the log contains a text. */
  async logged(text: string): Promise<void> {
    const isThere = () => this.stdout.includes(text)
    await waitUntil(`the log says "${text}"`, startTimeoutMs, this.#over.signal, isThere).catch(
      (error: unknown) => {
        // The last output may arrive with the exit.
        if (!isThere()) throw error
      },
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGKILL')
    await this.ended
  }
}
