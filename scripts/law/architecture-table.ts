// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Reads the table of "Who may import whom" out of `docs/architecture.md`: each part of `proxy/` with
 * what it may import. "all of the above" stands for every part of the rows above.
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
