// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { parseArgs } from 'node:util'
import { formatAddress, parseAddress } from '../config/fields/address.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

const usage = `Usage:
  router explain <guid> [--at host:7779,...]
  router explain --failed | --slow [--at host:7779,...]

Says why a call went where it went: which upstreams were asked or left out and why, what each answered, and when.
<guid> is in the header Rpc-Guid of the answer, in data.guid of an error and in the log.
--at names the admin addresses of all replicas; default: 127.0.0.1:7779.
Exit codes: 0 found, 1 not found or a replica cannot be asked, 2 wrong command line.
`
const adminPort = 7779
const timeoutMs = 5_000

/** `router explain`: asks replicas what happened to a call. @returns the exit code */
export async function explain(args: readonly string[], io: CommandIo): Promise<number> {
  const { wantsHelp, problems, path, isList, replicas } = readArgs(args)
  if (wantsHelp) io.stdout.write(usage)
  else for (const each of problems) io.stderr.write(`${problemLine('router', each)}\n`)
  if (wantsHelp || problems.length > 0) return wantsHelp ? exitCodes.done : exitCodes.invalid
  const answers = await Promise.all(replicas.map((at) => read(at, path)))
  const found = answers.filter(({ isFound }) => isFound)
  for (const { at, text } of found)
    io.stdout.write(isList && replicas.length > 1 ? `${at}\n${text}\n` : text)
  if (isList ? found.length === replicas.length : found.length > 0) return exitCodes.done
  for (const { at, isFound, text } of answers)
    if (!isFound) io.stderr.write(`router: error: ${at}: ${text}\n`)
  return exitCodes.failed
}

function readArgs(args: readonly string[]) {
  const problems: Problem[] = []
  const { values, positionals } = parse(args, problems)
  const [guid, ...others] = positionals.filter((word, at) => at > 0 || word !== 'explain')
  const list = values.failed ? 'failed' : values.slow ? 'slow' : null
  const isOne = [guid, values.failed, values.slow].filter(Boolean).length === 1
  if (problems.length === 0 && (!isOne || others.length > 0))
    problems.push(problemAt('', null, 'one guid is wanted, or --failed, or --slow'))
  if (guid !== undefined && !/^[\w-]{1,64}$/.test(guid))
    problems.push(problemAt('', null, `${quote(guid)} is no guid`, 'Take it from Rpc-Guid.'))
  const { at = [`127.0.0.1:${adminPort}`], help: wantsHelp = false } = values
  const replicas = new Set<string>()
  for (const text of at.flatMap((each) => each.split(','))) {
    const read = parseAddress(text, adminPort)
    if (!('fault' in read)) replicas.add(formatAddress(read.value))
    else problems.push(problemAt('--at', null, `${quote(text)} ${read.fault}`, 'Write host:7779.'))
  }
  const path = list === null ? `/explain/${guid}?format=text` : `/explain?${list}&format=text`
  return { wantsHelp, problems, path, isList: list !== null, replicas: [...replicas] }
}

function parse(args: readonly string[], problems: Problem[]) {
  const options = {
    at: { type: 'string', multiple: true },
    failed: { type: 'boolean' },
    slow: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  } as const
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true })
  } catch (error) {
    const [message = ''] = (error as Error).message.split('. ')
    problems.push(problemAt('', null, message, 'See router explain --help.'))
    return { values: {}, positionals: [] }
  }
}

/** The page of a replica as text, or why there is none. */
async function read(at: string, path: string) {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const answer = await fetch(`http://${at}${path}`, { signal, redirect: 'error' })
    const text = await answer.text()
    const fault = answer.status === 404 ? text.slice(0, 300).trim() : `HTTP ${answer.status}`
    return { at, isFound: answer.ok, text: answer.ok ? text : fault }
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: NodeJS.ErrnoException }
    return { at, isFound: false, text: `cannot be asked: ${cause?.code ?? message}` }
  }
}
