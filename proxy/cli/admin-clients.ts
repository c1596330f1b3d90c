// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { systemClock } from '../clock/clock.ts'
import { formatAddress, parseAddress } from '../config/fields/address.ts'
import { adminPort } from '../config/fields/fields.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import { linesOf } from '../console/lines.ts'
import { readPage } from '../console/read-page.ts'
import { Replicas } from '../console/replicas.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, problemLine } from '../router/checked-config.ts'
import type { CommandIo } from './validate.ts'

const ofGuid =
  'Rpc-Guid, a header of each answer, has the guid; --failed lists the last failed calls.'

/** `router top`: a live screen, or one print of it. @returns the exit code */
export async function top({ command, own, output }: CommandLine, io: CommandIo): Promise<number> {
  const addresses = readAddresses(own.at, [], io)
  if (addresses === null) return exitCodes.invalid
  const replicas = new Replicas(addresses)
  await replicas.ask()
  const isJson = output === 'json'
  if (command === 'top' && !own.once && !isJson && process.stdout.isTTY && process.stdin.isTTY) {
    const { showScreen } = await import('../console/screen.ts')
    await showScreen({ replicas, clock: systemClock, isColoured: !io.environment['NO_COLOR'] })
    return exitCodes.done
  }
  const { view } = replicas
  const lines = isJson
    ? [JSON.stringify({ version: 1, ...view }, null, 2)]
    : linesOf(view, process.stdout.columns ?? 160).map(({ text }) => text)
  io.stdout.write(`${lines.join('\n')}\n`)
  return view.replicas.every(({ problem }) => problem !== null) ? exitCodes.failed : exitCodes.done
}

/** `router explain`: explains a call, or lists notable ones. @returns the exit code */
export async function explain(line: CommandLine, io: CommandIo): Promise<number> {
  const { positionals, own } = line
  const [guid] = positionals
  const isList = guid === undefined
  const { upstream: [upstream] = [] } = own
  const kinds = (['failed', 'slow', 'retried'] as const).filter((name) => own[name])
  const query = [
    ...kinds,
    ...(upstream === undefined ? [] : [`upstream=${encodeURIComponent(upstream)}`]),
  ]
  const page = isList
    ? `?${query.map((each) => `${each}&`).join('')}`
    : `/${encodeURIComponent(guid)}?`
  const isClear = kinds.length <= 1 && isList === query.length > 0
  const expected = 'expected one guid, --failed, --slow, --retried or --upstream'
  const usage = problemAt('', null, expected, ofGuid)
  const replicas = readAddresses(own.at, isClear ? [] : [usage], io)
  if (replicas === null) return exitCodes.invalid
  const pending = [...replicas].map(async ([name, url]) => {
    return { name, ...(await readPage(`${url}/explain${page}format=text`)) }
  })
  const answers = await Promise.all(pending)
  const silent = answers.filter(({ text }) => text === null)
  for (const { name, text } of answers)
    if (text !== null) io.stdout.write(isList && replicas.size > 1 ? `${name}\n${text}\n` : text)
  // A list needs every replica; a single call is on one of them.
  if (isList ? silent.length === 0 : silent.length < answers.length) return exitCodes.done
  for (const { name, fault } of silent) io.stderr.write(`router: error: ${name}: ${fault}\n`)
  return exitCodes.failed
}

/**
 * Base URLs of the admin pages that `--at` names, by replica name. Null after a reported problem.
 * @param problems problems found so far
 */
function readAddresses(
  texts: readonly string[] | undefined,
  problems: Problem[],
  io: CommandIo,
): ReadonlyMap<string, string> | null {
  const replicas = new Map<string, string>()
  for (const text of (texts ?? [`127.0.0.1:${adminPort}`]).flatMap((each) => each.split(','))) {
    const [name = '', url = ''] = text.split(/=(.*)/s)
    const read = parseAddress(text.trim(), adminPort)
    if (URL.canParse(url) && /^https?:/.test(url)) replicas.set(name, url)
    else if ('fault' in read)
      problems.push(problemAt('--at', null, `${quote(text)} ${read.fault}`, 'Write host:7779.'))
    else replicas.set(formatAddress(read.value), `http://${formatAddress(read.value)}`)
  }
  for (const each of problems) io.stderr.write(`${problemLine('router', each)}\n`)
  return problems.length > 0 ? null : replicas
}
