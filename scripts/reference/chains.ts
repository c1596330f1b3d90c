// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Chain, ChainInterface, Classification } from '../../proxy/chain/types.ts'
import { loadCatalog } from '../../proxy/chain/load-catalog.ts'

/** The text of `docs/reference/chains.md`: what the bundled specs say. */
export async function render(): Promise<string> {
  const catalog = await loadCatalog([])
  const chains = catalog.ids
    .toSorted()
    .map((id) => catalog.find(id))
    .filter((chain) => chain !== null)
  return [
    '# Chains',
    '',
    'Generated from `specs/`; do not edit. How to add a chain: [specs/README.md](../../specs/README.md).',
    '',
    '| chain-id | also | name | family | interfaces | block time | allowed lag | final |',
    '|---|---|---|---|---|---|---|---|',
    ...chains.map(chainRow),
    ...chains.flatMap((chain) => chainSection(chain, chains)),
    '',
  ].join('\n')
}

function chainRow(chain: Chain): string {
  const { finality } = chain
  const final = finality.kind === 'tag' ? `tag \`${finality.tag}\`` : `${finality.blocks} blocks`
  return row([
    `\`${chain.id}\``,
    chain.aliases.map((alias) => `\`${alias}\``).join(', '),
    chain.name,
    chain.family,
    [...chain.interfaces.keys()].join(', '),
    `${chain.blockTimeMs / 1000} s`,
    `${chain.allowedLagBlocks} blocks`,
    final,
  ])
}

function chainSection(chain: Chain, chains: readonly Chain[]): string[] {
  return [...chain.interfaces.values()].flatMap((offered) => [
    '',
    `## ${chain.id} through ${offered.apiInterface}`,
    '',
    ...facts(offered),
    '',
    ...(sameMethods(chain, offered, chains) ?? methodTable(offered)),
  ])
}

function facts(offered: ChainInterface): string[] {
  const archive = offered.archiveAfterBlocks
  const verifications = offered.verifications.map((each) => {
    const expected = each.expected === null ? '' : ` (\`${each.expected}\`)`
    return `\`${each.name}\`${expected}${each.addon === null ? '' : ` with \`${each.addon}\``}`
  })
  return [
    `- Add-ons: ${[...offered.addons].map((addon) => `\`${addon}\``).join(', ') || 'none'}.`,
    `- Verifications: ${verifications.join(', ') || 'none'}.`,
    ...(archive === null
      ? []
      : [`- \`archive\` is needed from ${archive} blocks behind the tip on.`]),
  ]
}

/** One sentence instead of the table of a chain that has the methods of an earlier one. */
function sameMethods(chain: Chain, offered: ChainInterface, chains: readonly Chain[]) {
  const names = [...offered.methods].join()
  const twin = chains
    .slice(0, chains.indexOf(chain))
    .find(
      (each) => [...(each.interfaces.get(offered.apiInterface)?.methods ?? [])].join() === names,
    )
  return twin === undefined ? null : [`Its methods are those of ${twin.id}.`]
}

function methodTable(offered: ChainInterface): string[] {
  const methods = [...offered.methods].map((name) => ask(offered, name))
  const byAddon = methods.toSorted((a, b) => (a.addon ?? '').localeCompare(b.addon ?? ''))
  return [
    'What each check does: [integrity](../concepts/integrity.md).',
    '',
    '| method | kind | add-on | block when none is given | cost | timeout | cached | checks |',
    '|---|---|---|---|---|---|---|---|',
    ...byAddon.map((method) => methodRow(method, isCached(offered, method.method))),
  ]
}

/** What is said of a method when it is called with nothing but this for each of its params. */
function ask(offered: ChainInterface, name: string, param?: string): Classification {
  const { apiInterface } = offered
  const header = () => null
  const params = param === undefined ? [] : [param, param, param]
  if (apiInterface === 'grpc') return offered.classify({ apiInterface, method: name, header })
  if (apiInterface !== 'rest') return offered.classify({ apiInterface, method: name, params })
  const path = param === undefined ? name : name.replaceAll(/\{[^}]*\}/g, param)
  const asked = (verb: string) => offered.classify({ apiInterface, verb, path, query: '', header })
  const read = asked('GET')
  return read.known ? read : asked('POST')
}

/** Whether an answer may be cached once the call names its block in some way. */
function isCached(offered: ChainInterface, name: string): boolean {
  const anyHash = `0x${'0'.repeat(64)}`
  return [undefined, 'latest', anyHash].some((param) => ask(offered, name, param).cacheable)
}

function methodRow(method: Classification, cached: boolean): string {
  const { block } = method
  const words = {
    none: 'does not depend on one',
    invalid: 'must be given',
    tag: block.kind === 'tag' ? `\`${block.tag}\`` : '',
    range: 'a range',
    number: '',
    hash: '',
  }
  return row([
    `\`${method.method}\``,
    method.kind,
    method.addon === null ? '' : `\`${method.addon}\``,
    words[block.kind],
    String(method.cost),
    method.timeoutMs === null ? 'by cost' : `${method.timeoutMs / 1000} s`,
    cached ? 'yes' : 'no',
    method.checks.map(({ rule }) => `\`${rule.check}\``).join(', '),
  ])
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}
