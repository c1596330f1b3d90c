// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** A whole number from 1 on that the environment tells; ends the process when it is another text. */
export function wholeNumber(name: string, fallback: number | null, usage: string): number | null {
  const text = process.env[name]
  if (text === undefined || text === '') return fallback
  if (/^[1-9][0-9]{0,9}$/.test(text)) return Number(text)
  process.stderr.write(`${name} is a whole number from 1 on, not "${text}".\n\n${usage}\n`)
  process.exit(2)
}
