// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { directiveHeaders } from '../../proxy/listener/directives.ts'
import { metadataHeaders } from '../../proxy/listener/headers.ts'

/** The text of `docs/reference/headers.md`. */
export function render(): string {
  return [
    '# Headers',
    '',
    '<!-- Generated from the code by `make generate`. Do not edit. -->',
    '',
    '## Of a request: directives',
    '',
    'They speak to the router and are not sent to upstreams. Several may be in one request, and',
    'names are matched in any case. A response header that is sent in a request has no effect.',
    '',
    ...table(
      ['Header', 'Value', 'Effect'],
      directiveHeaders.map(({ name, value, effect }) => [`\`${name}\``, value, effect]),
    ),
    '',
    '## Of a request: what reaches the node',
    '',
    '- JSON-RPC and Tendermint RPC: headers that the chain spec lists (`request-headers`). REST: `Content-Type`',
    '  and `Accept` as well. gRPC: all metadata.',
    '- The `auth-headers` of a URL replace those that a client sends under the same names.',
    '- What belongs to one connection does not pass. The router always sends its own `te: trailers` to gRPC nodes.',
    "- A client's credentials are not for a provider. In gRPC what shows them passes only where the chain spec lists it:",
    '  names that hold `authorization` or `cookie` or end in `api-key`, `apikey`, `subscription-key` or `jwt-assertion`,',
    '  `x-token`, `x-...-token`, `x-amzn-oidc-...`, `cf-access-...` and `x-forwarded-client-cert`.',
    '',
    '## Of a response: what happened',
    '',
    ...table(
      ['Header', 'Meaning', 'For a batch'],
      Object.values(metadataHeaders).map(({ name, about, ofBatch }) => [
        `\`${name}\``,
        about,
        ofBatch,
      ]),
    ),
    '',
    'Lists of names are separated by commas. The content type is that of the upstream; its other',
    'headers reach the client only when the chain spec lists them.',
    '',
    'A batch that is too long to be held in memory is sent as it comes. Its headers cover the items',
    'that were answered by then.',
    '',
  ].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`)
}
