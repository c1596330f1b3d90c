// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/**
 * A page of the project with generated parts: each stands between `<!-- NAME: by make generate -->` and
 * `<!-- end of NAME -->`. What people wrote around them stays.
 * @throws Error naming a part for which the page has no place
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
