// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Text that a terminal or another reader might take for a command, a line end or a direction. */
// oxlint-disable-next-line no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g
const plain = /^[\w.:/@+-]+$/

/**
 * One record as one line for people: `time LEVEL message key=value ...`. Values that are not one
 * plain word are quoted as in JSON; no value can end the line or pass for another field.
 */
export function formatText(record: Readonly<Record<string, unknown>>): string {
  const { time, level, msg, ...fields } = record
  const words = [escaped(String(time)), String(level).toUpperCase().padEnd(5), escaped(String(msg))]
  for (const [key, value] of Object.entries(fields)) words.push(`${word(key)}=${word(value)}`)
  return `${words.join(' ')}\n`
}

function word(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined')
  if (plain.test(text)) return text
  return escaped(typeof value === 'string' ? JSON.stringify(value) : text)
}

function escaped(text: string): string {
  return text.replace(unsafe, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
