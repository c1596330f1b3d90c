// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { styleText } from 'node:util'

const indent = '     '

/** The output of the demo: numbered steps with columns. */
export class Screen {
  readonly #write: (text: string) => void
  #step = 0

  constructor(write: (text: string) => void) {
    this.#write = write
  }

  headline(title: string, subtitle: string): void {
    this.#write(`\n${styleText('bold', title)}\n${styleText('dim', subtitle)}\n`)
  }

  step(title: string): void {
    this.#write(`\n${styleText('bold', `  ${++this.#step}  ${title}`)}\n`)
  }

  /** Prints one line of cells. The last cell has no width. */
  row(cells: readonly (string | number)[], widths: readonly number[]): void {
    const padded = cells.map((cell, at) => {
      const width = widths[at] ?? 0
      return typeof cell === 'number'
        ? cell.toLocaleString('en-US').padStart(width)
        : cell.padEnd(width)
    })
    this.#write(`${indent}${padded.join('  ').trimEnd()}\n`)
  }

  note(text: string): void {
    for (const line of text.trimEnd().split('\n'))
      this.#write(line === '' ? '\n' : `${indent}${styleText('dim', line)}\n`)
  }

  verdict(good: boolean, text: string): void {
    this.#write(`\n  ${styleText(['bold', good ? 'green' : 'red'], text)}\n\n`)
  }
}
