// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

export function tableRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

/** Words in code style, one after the other. */
export function words(all: Iterable<string>): string {
  return [...all].map((word) => `\`${word}\``).join(', ')
}
