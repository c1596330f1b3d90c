// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { sleep, systemClock } from '../clock/clock.ts'
import { formatAddress, parseAddress } from '../config/fields/address.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import { readPage, Replicas } from '../console/replicas.ts'
import { linesOf } from '../console/text.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

const usage = `Usage:
  router top [--at host:7779,...] [--once | --json]

Shows what is wrong, each chain and its upstreams, and the last failed calls of routers that run.
--at names the admin addresses of all replicas; default: 127.0.0.1:7779. One behind a path: name=http://host/path.
--once prints it as a table, --json as a document for programs; both look twice, 3 s apart.
Exit codes: 0 done, 1 no replica answers, 2 wrong command line.
`
const options = {
  at: { type: 'string', multiple: true },
  once: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const adminPort = 7779
const betweenLooksMs = 3_000

/** `router top`. @param args behind the word @returns the exit code */
export async function top(args: readonly string[], io: CommandIo): Promise<number> {
  const asked = readArgs(args)
  if (asked === 'help') {
    io.stdout.write(usage)
    return exitCodes.done
  }
  const { addresses, problems, isOnce, isJson } = asked
  const isTerminal = process.stdout.isTTY && process.stdin.isTTY
  if (problems.length === 0 && !isOnce && !isJson && !isTerminal)
    problems.push(problemAt('', null, 'there is no terminal', 'Ask for --once or --json.'))
  if (problems.length > 0) {
    for (const problem of problems) io.stderr.write(`${problemLine('router', problem)}\n`)
    return exitCodes.invalid
  }
  const replicas = new Replicas(addresses, readPage)
  if (!isOnce && !isJson) {
    const { showScreen } = await import('../console/screen.ts')
    await showScreen({ replicas, clock: systemClock, isColoured: !io.environment['NO_COLOR'] })
    return exitCodes.done
  }
  await replicas.ask()
  // The clock's timers hold no process.
  const alive = setInterval(() => {}, 60_000)
  await sleep(systemClock, betweenLooksMs).finally(() => clearInterval(alive))
  await replicas.ask()
  const { view, calls } = replicas
  const columns = process.stdout.columns ?? 160
  const table = () => linesOf(view, { columns, sort: 'state', filter: '', calls })
  const text = isJson
    ? JSON.stringify({ version: 1, ...view, calls }, null, 2)
    : table()
        .map((line) => line.text)
        .join('\n')
  io.stdout.write(`${text}\n`)
  return view.replicas.every(({ problem }) => problem !== null) ? exitCodes.failed : exitCodes.done
}

function readArgs(args: readonly string[]) {
  const problems: Problem[] = []
  const none = { addresses: new Map<string, string>(), problems, isOnce: false, isJson: false }
  let values
  try {
    ;({ values } = parseArgs({ args: [...args], options }))
  } catch (error) {
    problems.push(problemAt('', null, (error as Error).message, 'See router top --help.'))
    return none
  }
  const { help, once: isOnce = false, json: isJson = false } = values
  if (help) return 'help'
  if (isOnce && isJson)
    problems.push(problemAt('', null, '--once and --json exclude each other', 'Keep one of them.'))
  const addresses = (values.at ?? [`127.0.0.1:${adminPort}`])
    .flatMap((text) => text.split(','))
    .flatMap((text): [name: string, url: string][] => {
      const [name = '', url = ''] = text.split(/=(.*)/s)
      if (URL.canParse(url) && /^https?:/.test(url)) return [[name, url]]
      const read = parseAddress(text.trim(), adminPort)
      const address = 'fault' in read ? '' : formatAddress(read.value)
      if (!('fault' in read)) return [[address, `http://${address}`]]
      problems.push(problemAt('--at', null, `${quote(text)} ${read.fault}`, 'Write host:7779.'))
      return []
    })
  return { addresses: new Map(addresses), problems, isOnce, isJson }
}
