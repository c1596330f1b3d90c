// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { waitUntil } from './eventually.ts'

const killGraceMs = 5_000
const startTimeoutMs = 150_000
const tailBytes = 4_000

/** A program that was started beside this one. */
export interface Child {
  readonly name: string
  readonly pid: number
  /** True until it has ended. */
  readonly alive: boolean
  /** Resolves when it ends for any reason, with its exit code, or null after a signal. */
  readonly ended: Promise<number | null>
  kill(signal: NodeJS.Signals): void
  /** Sends SIGINT, at which a router does not wait for idle clients, and SIGKILL after 5 s. */
  stop(): Promise<void>
  /** The end of its output, for an error message. */
  tail(): string
}

export interface ChildOptions {
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
}

/**
 * The programs started in one run. They end on disposal, or at the latest when this process exits.
 * Their output goes to files in `directory`.
 */
export class ChildProcesses implements AsyncDisposable {
  readonly #directory: string
  readonly #children = new Set<ChildProcess>()
  readonly #stops: (() => Promise<void>)[] = []
  readonly #onExit = () => {
    for (const child of this.#children) signalGroup(child, 'SIGKILL')
  }

  constructor(directory: string) {
    this.#directory = directory
    process.once('exit', this.#onExit)
  }

  /** Starts a program. Rejects when it cannot be run at all. */
  async start({ name, command, args }: ChildOptions): Promise<Child> {
    const logFile = join(this.#directory, `${name}.log`)
    const log = openSync(logFile, 'a')
    const child = spawn(command, args, {
      stdio: ['ignore', log, log],
      // Ctrl-C in the terminal reaches this process alone, which then ends its children in order.
      detached: true,
    })
    closeSync(log)
    this.#children.add(child)
    const ended = new Promise<number | null>((resolve) => {
      child.once('exit', (code) => {
        this.#children.delete(child)
        resolve(code)
      })
    })
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve)
      child.once('error', (cause) => {
        this.#children.delete(child)
        reject(new Error(`${name} could not be started: ${command}`, { cause }))
      })
    })
    const stop = async () => {
      if (!this.#children.has(child)) return
      signalGroup(child, 'SIGINT')
      const killTimer = setTimeout(() => signalGroup(child, 'SIGKILL'), killGraceMs)
      await ended
      clearTimeout(killTimer)
    }
    this.#stops.push(stop)
    const isAlive = () => this.#children.has(child)
    return {
      name,
      pid: child.pid!,
      ended,
      stop,
      get alive() {
        return isAlive()
      },
      kill: (signal) => void child.kill(signal),
      tail: () => readFileSync(logFile, 'utf8').slice(-tailBytes),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()))
    process.removeListener('exit', this.#onExit)
  }
}

/** Waits until the probe succeeds. Rejects with the program's last output if the program ends. */
export async function untilItServes(
  child: Child,
  signal: AbortSignal,
  probe: () => Promise<boolean>,
): Promise<void> {
  const over = new AbortController()
  void child.ended.then(() =>
    over.abort(new Error(`${child.name} ended by itself:\n${child.tail()}`)),
  )
  const either = AbortSignal.any([signal, over.signal])
  await waitUntil(`${child.name} serves`, startTimeoutMs, either, probe)
}

/** Signals the whole group, since a program such as npx starts processes itself. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch (error) {
    // The process has ended in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
