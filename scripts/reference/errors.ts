// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { errorKinds } from '../../proxy/relay/errors.ts'

/** `docs/reference/errors.md`. */
export function render(): string {
  const rows = Object.values(errorKinds).map(
    (kind) =>
      `| \`${kind.reason}\` | ${kind.jsonRpcCode} | ${kind.httpStatus} | ${kind.grpcStatus} | \`${kind.code}\` | ${kind.about} |`,
  )
  return `# Errors

<!-- Made from proxy/relay/errors.ts by \`make generate\`. -->

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
as a whole, 200. The codes from -32050 downwards are the router's own and lie outside of those that
nodes use, so a client can tell who failed.
`
}
