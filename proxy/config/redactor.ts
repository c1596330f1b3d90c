// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isTellable } from './secret-parts.ts'

/**
 * A last line of defence for logs: replaces every occurrence of a secret value, also as it stands in JSON, in a
 * URL and in base64. Values under 6 characters and short numbers are left alone, for they would hit innocent text.
 */
export function createRedactor(secretValues: Iterable<string>): (text: string) => string {
  const forms = new Set<string>()
  for (const value of secretValues) {
    for (const form of [value, value.trim()]) {
      if (!isTellable(form)) continue
      forms.add(form)
      forms.add(JSON.stringify(form).slice(1, -1))
      forms.add(encodeURIComponent(form.toWellFormed()))
      forms.add(encodeURI(form.toWellFormed()))
      forms.add(Buffer.from(form).toString('base64').replace(/=+$/, ''))
    }
  }
  if (forms.size === 0) return (text) => text
  // The longest first, or a value that begins with another one would be replaced only in part.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length)
  const pattern = new RegExp(longestFirst.map(escapePattern).join('|'), 'g')
  return (text) => text.replace(pattern, '[redacted]')
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
}
