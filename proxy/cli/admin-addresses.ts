// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { formatAddress, parseAddress } from '../config/fields/address.ts'
import { type Problem, problemAt, quote } from '../config/problem.ts'

const adminPort = 7779

/** What `--at` names: URLs that admin pages are below, by the names of the replicas; and what is wrong with it. */
export function readAddresses(texts: readonly string[] = [`127.0.0.1:${adminPort}`]) {
  const replicas = new Map<string, string>()
  const problems: Problem[] = []
  for (const text of texts.flatMap((each) => each.split(','))) {
    const [name = '', url = ''] = text.split(/=(.*)/s)
    const read = parseAddress(text.trim(), adminPort)
    if (URL.canParse(url) && /^https?:/.test(url)) replicas.set(name, url)
    else if ('fault' in read)
      problems.push(problemAt('--at', null, `${quote(text)} ${read.fault}`, 'Write host:7779.'))
    else replicas.set(formatAddress(read.value), `http://${formatAddress(read.value)}`)
  }
  return { replicas, problems }
}
