// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { freePort } from '../processes/free-ports.ts'
import { waitUntil } from '../processes/eventually.ts'
import type { Workspace } from './workspace.ts'

const entry = fileURLToPath(new URL('../../proxy/main.ts', import.meta.url))
const startTimeoutMs = 60_000

/** The result of a run of the program. */
export interface Ended {
  /** Its exit code, or the signal that ended it. */
  readonly code: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

/** The running program. `await using` ends it. */
export interface Program extends AsyncDisposable {
  readonly pid: number
  /** Metrics and health. */
  readonly adminUrl: string
  /** Where the listeners are, in the order of the config file. */
  readonly urls: readonly string[]
  readonly stdout: string
  readonly stderr: string
  readonly ended: Promise<Ended>
  kill(signal: NodeJS.Signals): void
  /** Waits until the log contains a text. */
  logged(text: string): Promise<void>
}

/** The environment of the program. `SR_*` variables of this process are not passed on. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Runs a command line of the program to its end. */
export async function runProgram(
  args: readonly string[],
  surroundings: Surroundings = {},
): Promise<Ended> {
  return new Output(start(args, surroundings)).ended
}

/**
 * Starts the program and waits until its listeners are open.
 * @param config as in the file; `metrics-listen-address` is added
 */
export async function startProgram(
  workspace: Workspace,
  config: Readonly<Record<string, unknown>>,
  surroundings: Surroundings & { readonly flags?: readonly string[] } = {},
): Promise<Program> {
  const adminAddress = `127.0.0.1:${await freePort()}`
  const file = await workspace.write('router.yml', {
    'metrics-listen-address': adminAddress,
    ...config,
  })
  const child = start([file, ...(surroundings.flags ?? [])], surroundings)
  const output = new Output(child)
  const end = async () => {
    child.kill('SIGKILL')
    await output.ended
  }
  try {
    await output.logged('router started')
  } catch (error) {
    await end()
    throw error
  }
  return {
    pid: child.pid ?? 0,
    adminUrl: `http://${adminAddress}`,
    urls: [...output.stdout.matchAll(/address(?:=|":")([\d.]+:\d+)/g)].map(
      ([, address]) => `http://${address}`,
    ),
    get stdout() {
      return output.stdout
    },
    get stderr() {
      return output.stderr
    },
    ended: output.ended,
    kill: (signal) => void child.kill(signal),
    logged: (text) => output.logged(text),
    [Symbol.asyncDispose]: end,
  }
}

function start(args: readonly string[], { env = {}, cwd }: Surroundings): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SR_'))
  // As bin/router.mjs does: without "--" Node takes --env-file for its own.
  return spawn(process.execPath, ['--', entry, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...Object.fromEntries(inherited), ...env },
    ...(cwd === undefined ? {} : { cwd }),
  })
}

/** Collects the output of a child. */
class Output {
  stdout = ''
  stderr = ''
  readonly ended: Promise<Ended>
  #isOver = false

  constructor(child: ChildProcess) {
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        this.#isOver = true
        const { stdout, stderr } = this
        resolve({ code: code ?? signal ?? 'SIGKILL', stdout, stderr })
      })
    })
  }

  async logged(text: string): Promise<void> {
    const over = new AbortController()
    await waitUntil(`the log says "${text}"`, startTimeoutMs, over.signal, () => {
      if (this.stdout.includes(text)) return Promise.resolve(true)
      if (this.#isOver) over.abort(new Error(`it ended: ${this.stdout}${this.stderr}`))
      return Promise.resolve(false)
    })
  }
}
