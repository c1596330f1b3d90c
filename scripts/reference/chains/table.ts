// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Words in code style, separated by commas. */
export function words(all: Iterable<string>): string {
  return [...all].map((word) => `\`${word}\``).join(', ')
}

/** A Markdown table of metric families from a program's table. */
export function seriesTable(
  all: readonly { name: string; type: string; labels: readonly string[]; help: string }[],
): string[] {
  const code = (text: string) => `\`${text}\``
  return [
    tableRow(['Series', 'Type', 'Labels', 'Meaning']),
    tableRow(['---', '---', '---', '---']),
    ...all.map(({ name, type, labels, help }) =>
      tableRow([code(name), type, labels.map(code).join(' '), help]),
    ),
  ]
}
