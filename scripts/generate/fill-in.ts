// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/**
 * Fills the generated parts of a page, each between `<!-- NAME: by make generate -->` and
 * `<!-- end of NAME -->`. The text around them remains unchanged.
 * @throws Error naming a part without markers in the page
 */
export function fillIn(page: string, parts: Readonly<Record<string, readonly string[]>>): string {
  return Object.entries(parts).reduce(
    (text, [name, lines]) => {
      const place = new RegExp(
        `(<!-- ${name}: by make generate -->\\n)[^]*(<!-- end of ${name} -->)`,
      )
      if (!place.test(text)) throw new Error(`${page} has no place for: ${name}`)
      return text.replace(place, (_, from, to) => `${from}\n${lines.join('\n')}\n\n${to}`)
    },
    readFileSync(join(root, page), 'utf8'),
  )
}
