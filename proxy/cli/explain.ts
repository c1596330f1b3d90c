// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { problemAt } from '../config/problem.ts'
import { readPage } from '../console/read-page.ts'
import { readAddresses } from './admin-addresses.ts'
import type { CommandLine } from './command-line.ts'
import { exitCodes, problemLine } from './judged-config.ts'
import type { CommandIo } from './validate.ts'

/** `router explain`: asks replicas what happened to a call, or which ones failed or were slow. @returns the exit code */
export async function explain(
  { positionals: [guid], own }: CommandLine,
  io: CommandIo,
): Promise<number> {
  const { replicas, problems } = readAddresses(own.at)
  const isList = guid === undefined
  const pages = isList ? [] : [`/${encodeURIComponent(guid)}?`]
  for (const name of ['failed', 'slow'] as const) if (own[name]) pages.push(`?${name}&`)
  if (pages.length !== 1)
    problems.push(problemAt('', null, 'one guid is wanted, or --failed, or --slow'))
  for (const each of problems) io.stderr.write(`${problemLine('router', each)}\n`)
  if (problems.length > 0) return exitCodes.invalid
  const answers = await Promise.all(
    [...replicas].map(async ([name, url]) => ({
      name,
      ...(await readPage(`${url}/explain${pages[0]}format=text`)),
    })),
  )
  const silent = answers.filter(({ text }) => text === null)
  for (const { name, text } of answers)
    if (text !== null) io.stdout.write(isList && replicas.size > 1 ? `${name}\n${text}\n` : text)
  // A list is of all replicas; a call is known to one of them.
  if (isList ? silent.length === 0 : silent.length < answers.length) return exitCodes.done
  for (const { name, fault } of silent) io.stderr.write(`router: error: ${name}: ${fault}\n`)
  return exitCodes.failed
}
