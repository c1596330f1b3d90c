// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'

const progressMs = 15_000

export interface GoBuild {
  readonly name: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Reports progress, with or without a terminal. */
  readonly say: (line: string) => void
  readonly progressMs?: number
}

/** Runs `go build`, and reports progress every 15 s. The output of Go goes to stderr. */
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
    if (code !== 0)
      throw new Error(`go failed to build ${name} (exit code ${code}); its output is above`)
  } finally {
    clearInterval(progress)
  }
  say(`${name} built in ${elapsed()}`)
}
