// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Reads the table "Who may import whom" of `docs/architecture.md`: each part of `proxy/` with the
 * parts that it may import. "all of the above" means every part in the rows above.
 */
export function readArchitectureTable(markdown: string): Record<string, string[]> {
  const section = markdown.split(/^## /m).find((text) => text.startsWith('Who may import whom'))
  const rows = (section ?? '')
    .split('\n')
    .map((line) => /^\|(?<parts>[^|]+)\|(?<allowed>[^|]+)\|$/.exec(line.trim())?.groups)
    .filter((row) => row !== undefined)
  const table: Record<string, string[]> = {}
  for (const { parts = '', allowed = '' } of rows) {
    const above = allowed.includes('all of the above') ? Object.keys(table) : []
    for (const part of codeWords(parts)) table[part] = [...above, ...codeWords(allowed)]
  }
  return table
}

function codeWords(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word ?? '')
}
