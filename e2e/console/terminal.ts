// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runTool, toolOutput } from '../processes/run-tool.ts'

const entry = fileURLToPath(new URL('../../bin/router.mjs', import.meta.url))

/** `router top`, or another command, in a real tmux terminal. `await using` ends both. */
export class Terminal implements AsyncDisposable {
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
  }

  /** @throws Error without tmux */
  static async start(
    args: readonly string[],
    { command = 'top', columns = 80, rows = 24, environment = '' } = {},
  ): Promise<Terminal> {
    await runTool('tmux', ['-V']).catch(() => {
      throw new Error('this test needs tmux: apt-get install tmux')
    })
    const terminal = new Terminal(await mkdtemp(join(tmpdir(), 'rpc-router-terminal-')))
    const program = [process.execPath, entry, command, ...args].map((word) => `'${word}'`).join(' ')
    // Records all output, as a remote terminal would receive it.
    const recorded = `script -qefc "${environment} ${program}" '${terminal.#raw}'; sleep 60`
    const size = ['-x', String(columns), '-y', String(rows)]
    await terminal.#tmux('-f', '/dev/null', 'new-session', '-d', ...size, recorded)
    return terminal
  }

  /** The text on the screen. @param more tmux flags; `-e` includes colours */
  screen(...more: readonly string[]): Promise<string> {
    return this.#tmux('capture-pane', '-p', ...more)
  }

  async press(...keys: readonly string[]): Promise<void> {
    await this.#tmux('send-keys', ...keys)
  }

  async resize(columns: number, rows: number): Promise<void> {
    await this.#tmux('resize-window', '-x', String(columns), '-y', String(rows))
  }

  /** Every byte that the program wrote so far. */
  written(): Promise<string> {
    return readFile(this.#raw, 'utf8')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runTool('tmux', ['-S', this.#socket, 'kill-server'])
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 5 })
  }

  get #socket(): string {
    return join(this.#directory, 'tmux')
  }

  get #raw(): string {
    return join(this.#directory, 'written')
  }

  #tmux(...args: readonly string[]): Promise<string> {
    return toolOutput('tmux', ['-S', this.#socket, ...args])
  }
}
