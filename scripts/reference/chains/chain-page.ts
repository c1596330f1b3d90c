// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface, Verification } from '../../../proxy/chain/types.ts'
import { subscriptionFormOf } from '../../../proxy/subscription/form-of.ts'
import { methodRows, methodTable } from './method-table.ts'
import { words } from './table.ts'

const interfaceNames: Readonly<Record<ChainInterface['apiInterface'], string>> = {
  jsonrpc: 'JSON-RPC',
  rest: 'REST',
  tendermintrpc: 'Tendermint RPC',
  grpc: 'gRPC',
}

/**
 * The page of a chain and all chains with the same methods.
 * @param base the chain that it extends, whose page has the methods that both have
 */
export function chainPage(chain: Chain, kin: readonly Chain[], base: Chain | null): string {
  return [
    `# ${chain.id}: ${chain.name}`,
    '',
    'Generated from `specs/`; do not edit. All chains: [chains](../chains.md).',
    ...(kin.length === 0
      ? []
      : [
          '',
          `This also applies to ${words(kin.map(({ id }) => id))}, except for chain id, times and finality.`,
        ]),
    ...(base === null
      ? []
      : ['', `It extends [\`${base.id}\`](${base.id.toLowerCase()}.md). Other methods are there.`]),
    ...[...chain.interfaces.values()].flatMap((offered) =>
      interfaceSection(chain, offered, base?.interfaces.get(offered.apiInterface)),
    ),
    '',
  ].join('\n')
}

function interfaceSection(chain: Chain, offered: ChainInterface, base?: ChainInterface): string[] {
  const inherited = new Set(base && methodRows(base))
  const lacking = base ? base.methods.difference(offered.methods) : new Set<string>()
  return [
    '',
    `## ${interfaceNames[offered.apiInterface]}`,
    '',
    ...facts(chain, offered),
    ...(lacking.size === 0 ? [] : [`- Without ${words(lacking)}.`]),
    ...methodTable(methodRows(offered).filter((row) => !inherited.has(row))),
  ]
}

function facts(chain: Chain, offered: ChainInterface): string[] {
  const { addons, archiveAfterBlocks, aliases, requestHeaders, responseHeaders } = offered
  const active = new Set(offered.verifications.map(({ name }) => name))
  const unasked = offered.verificationNames.difference(active)
  const alsoKnown = [...aliases].map(([prefix, alias]) => `\`${alias}\` beside \`${prefix}\``)
  return [
    `- Add-ons: ${words(addons) || 'none'}.`,
    `- Verifications: ${offered.verifications.map(verification).join(', ') || 'none'}.`,
    ...(unasked.size === 0
      ? []
      : [`- Never run, but accepted by \`skip-verifications\`: ${words(unasked)}.`]),
    `- Subscriptions: ${subscriptionFormOf(chain, offered) ? 'yes, over WebSocket' : 'none'}.`,
    ...(archiveAfterBlocks === null
      ? []
      : [`- Calls prefer \`archive\` from ${archiveAfterBlocks} blocks behind the tip on.`]),
    ...(alsoKnown.length === 0 ? [] : [`- Names may also begin with ${alsoKnown.join(', ')}.`]),
    ...(requestHeaders.size === 0
      ? []
      : [`- Request headers that reach the node: ${words(requestHeaders)}.`]),
    ...(responseHeaders.size === 0
      ? []
      : [`- Response headers that reach the client: ${words(responseHeaders)}.`]),
  ]
}

function verification({ name, expected, addon, severity }: Verification): string {
  const value = expected === null ? '' : ` (\`${expected}\`)`
  const scope = addon === null ? '' : ` with \`${addon}\``
  return `\`${name}\`${value}${scope}${severity === 'warn' ? ', which only warns' : ''}`
}
