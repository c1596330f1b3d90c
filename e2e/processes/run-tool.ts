// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/** Long enough for Helm, which waits for pods. */
const timeoutMs = 180_000

export interface ToolRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a tool to its end, and accepts any exit code. */
export async function runTool(
  command: string,
  args: readonly string[],
  input = '',
  env: Readonly<NodeJS.ProcessEnv> = process.env,
): Promise<ToolRun> {
  const child = spawn(command, args, { timeout: timeoutMs, env })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  // Even an empty write fails with EPIPE once the tool has ended.
  child.stdin.end(input === '' ? undefined : input)
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

/** Runs a tool that must succeed, and returns its output. */
export async function toolOutput(
  command: string,
  args: readonly string[],
  input = '',
): Promise<string> {
  const { code, stdout, stderr } = await runTool(command, args, input)
  if (code !== 0)
    throw new Error(`${command} ${args.join(' ')} exited with code ${code}:\n${stderr}`)
  return stdout
}
