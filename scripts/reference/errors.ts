// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { failureOf } from '../../proxy/chain/failures/compile-failures.ts'
import { type FailureFile, failureFileSchema } from '../../proxy/chain/failures/schema.ts'
import { errorKinds } from '../../proxy/relay/errors.ts'
import { errorTexts } from '../generate/error-texts.ts'

const failuresFolder = join(import.meta.dirname, '../../specs/failures')

/** `docs/reference/errors.md`. */
export function render(): string {
  const rows = Object.entries(errorTexts).map(([name, about]) => {
    const kind = errorKinds[name as keyof typeof errorKinds]
    return `| \`${kind.reason}\` | ${kind.jsonRpcCode} | ${kind.httpStatus} | ${kind.grpcStatus} | \`${kind.code}\` | ${about} |`
  })
  return `# Errors

<!-- Made from proxy/relay/errors.ts and specs/failures by \`make generate\`. -->

An error that a node itself gives as its answer (a revert, a nonce that is too low, a parameter that
it does not take) reaches the client byte for byte, with the node's own code and message. So does
the last error of an upstream when no other upstream does better. This page lists the other ones:
those that the router itself makes.

| reason | JSON-RPC code | HTTP status | gRPC status | code in the log | when, and what follows |
|---|---|---|---|---|---|
${rows.join('\n')}

A JSON-RPC client gets them in this form:

\`\`\`json
{
  "jsonrpc": "2.0",
  "id": 1,
  "error": {
    "code": ${errorKinds.timeout.jsonRpcCode},
    "message": "...",
    "data": { "guid": "...", "reason": "${errorKinds.timeout.reason}" }
  }
}
\`\`\`

\`id\` is the request's own, \`null\` where it could not be read. \`guid\` is also in the header
\`Rpc-Guid\` and in the router's log. Programs should look at \`data.reason\`: the words of this table
are stable, the messages are not.

An item of a batch that fails gets its error in its place; the HTTP status is then that of the batch
as a whole, 200. The codes from -32050 downwards are the router's own and outside of those that
nodes use, so a client knows whether the router or the node failed.

## What follows from an upstream's failure

Whatever goes wrong with an attempt gets a name: it is in the log and in the label \`result\` of the
attempt metrics. The name decides what follows. A failure of the _upstream_ counts towards disabling
it; what is the _node_'s own answer or the _caller_'s mistake does not. _Elsewhere_: another upstream
is asked. _Pause_: the URL is in cooldown for a while. _Reported_: the upstream claimed success with a
wrong answer, and is named in \`Rpc-Reported-Providers\`.

${readFailureFiles().map(renderFailures).join('\n\n')}
`
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
    const { name, whose, retry, holdOff, reported } = failureOf(row)
    return `| \`${name}\` | ${shownBy} | ${whose} | ${retry ? 'yes' : ''} | ${holdOff ? 'yes' : ''} | ${reported ? 'yes' : ''} |`
  })
  return `### ${file.failures}

| name | shown by, for example | whose | elsewhere | pause | reported |
|---|---|---|---|---|---|
${rows.join('\n')}`
}

function exampleOf([example]: NonNullable<FailureFile['node-errors']>[number]['examples']): string {
  if (!example) return ''
  const code = example.code === undefined ? '' : `${example.code} `
  return `${code}\`${example.message.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}
