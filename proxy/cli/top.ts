// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sleep, systemClock } from '../clock/clock.ts'
import { Replicas } from '../console/replicas.ts'
import { linesOf } from '../console/lines.ts'
import { readAddresses } from './admin-addresses.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

const betweenLooksMs = 3_000

/** `router top`: a screen until its user leaves, or two looks and what lies between. @returns the exit code */
export async function top({ own, output }: CommandLine, io: CommandIo): Promise<number> {
  const { replicas: addresses, problems } = readAddresses(own.at)
  for (const problem of problems) io.stderr.write(`${problemLine('router', problem)}\n`)
  if (problems.length > 0) return exitCodes.invalid
  const replicas = new Replicas(addresses)
  await replicas.ask()
  const isJson = output === 'json'
  if (!own.once && !isJson && process.stdout.isTTY && process.stdin.isTTY) {
    const { showScreen } = await import('../console/screen.ts')
    await showScreen({ replicas, clock: systemClock, isColoured: !io.environment['NO_COLOR'] })
    return exitCodes.done
  }
  await sleep(systemClock, betweenLooksMs)
  await replicas.ask()
  const { view } = replicas
  const lines = isJson
    ? [JSON.stringify({ version: 1, ...view }, null, 2)]
    : linesOf(view, process.stdout.columns ?? 160).map(({ text }) => text)
  io.stdout.write(`${lines.join('\n')}\n`)
  return view.replicas.every(({ problem }) => problem !== null) ? exitCodes.failed : exitCodes.done
}
