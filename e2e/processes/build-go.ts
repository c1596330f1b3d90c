// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'

const progressMs = 15_000

export interface GoBuild {
  /** For messages. */
  readonly name: string
  /** Behind `go build`. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Reports progress, on a terminal or not. */
  readonly say: (line: string) => void
  readonly progressMs?: number
}

/** Runs `go build`, and reports every 15 s that it still runs. The words of Go go to stderr. */
export async function buildGo(build: GoBuild): Promise<void> {
  const { name, args, env, say } = build
  const startedMs = performance.now()
  const elapsed = () => `${Math.round((performance.now() - startedMs) / 1_000)} s`
  say(`building ${name} ...`)
  const progress = setInterval(
    () => say(`building ${name}: ${elapsed()} so far`),
    build.progressMs ?? progressMs,
  )
  try {
    const go = spawn('go', ['build', ...args], { env, stdio: ['ignore', 2, 2] })
    const code = await new Promise<number | null>((resolve, reject) => {
      go.once('error', reject).once('close', resolve)
    })
    if (code !== 0) throw new Error(`go could not build ${name} (${code}); its words are above`)
  } finally {
    clearInterval(progress)
  }
  say(`${name} built in ${elapsed()}`)
}
