// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { failureOf } from '../../proxy/chain/failures/compile-failures.ts'
import { type FailureFile, failureFileSchema } from '../../proxy/chain/failures/schema.ts'
import { type ErrorKind, errorKinds } from '../../proxy/relay/errors.ts'
import { fillIn } from '../generate/fill-in.ts'

const failuresFolder = join(import.meta.dirname, '../../specs/failures')

/** `docs/reference/errors.md`. */
export function render(): string {
  const texts = parse(readFileSync(join(import.meta.dirname, 'errors.yml'), 'utf8')) as object
  const about = new Map(Object.entries(texts))
  const rows = Object.entries<ErrorKind>(errorKinds).map(([name, kind]) => {
    if (!about.has(name)) throw new Error(`errors.yml says nothing about ${name}`)
    return `| \`${kind.reason}\` | ${kind.jsonRpcCode} | ${statusOf(kind)} | ${kind.grpcStatus} | \`${kind.code}\` | ${about.get(name)} |`
  })
  const heads = 'reason | JSON-RPC code | HTTP status | gRPC status | code in the log'
  return fillIn('docs/reference/errors.md', {
    errors: [`| ${heads} | when, and what to do |`, '|---|---|---|---|---|---|', ...rows],
    failures: [readFailureFiles().map(renderFailures).join('\n\n')],
  })
}

/** REST reports an error in the status; a status that only depends on this is not repeated. */
function statusOf({ httpStatus, restStatus }: ErrorKind): string {
  return restStatus === Math.max(httpStatus, 400)
    ? `${httpStatus}`
    : `${httpStatus}, REST ${restStatus}`
}

function readFailureFiles(): readonly FailureFile[] {
  return readdirSync(failuresFolder)
    .filter((file) => file.endsWith('.yml'))
    .toSorted()
    .map((file) => failureFileSchema.parse(parse(readFileSync(join(failuresFolder, file), 'utf8'))))
}

function renderFailures(file: FailureFile): string {
  const rows = [
    ...(file.transport ?? []).map((row) => [row, row.fault.join(', ')] as const),
    ...(file.http ?? []).map((row) => [row, `HTTP ${row.status.join(', ')}`] as const),
    ...(file.answers ?? []).map((row) => [row, `an answer: ${row.finding.join(', ')}`] as const),
    ...(file['node-errors'] ?? []).map((row) => [row, exampleOf(row.examples)] as const),
  ].map(([row, shownBy]) => {
    const { name, origin, retry, limit, reported } = failureOf(row)
    // A limit of a connection costs no URL a cooldown.
    const cooldown = limit === 'connection' ? null : limit
    return `| \`${name}\` | ${shownBy} | ${origin} | ${retry ? 'yes' : ''} | ${cooldown ?? ''} | ${reported ? 'yes' : ''} |`
  })
  return `### ${file.failures}

| name | example | origin | elsewhere | cooldown | reported |
|---|---|---|---|---|---|
${rows.join('\n')}`
}

function exampleOf([example]: NonNullable<FailureFile['node-errors']>[number]['examples']): string {
  if (!example) return ''
  const code = example.code === undefined ? '' : `${example.code} `
  return `${code}\`${example.message.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}
