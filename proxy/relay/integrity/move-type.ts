// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const longestName = 1_024
const structName = /^0x[0-9a-f]+::\w+::\w+(?:<[\w:<>,]+>)?$/i

/**
 * The name of a struct in Move as two of them are compared: without white space, and its addresses
 * without zeros before them. In a path it may be percent-encoded.
 * @returns null for what is no such name
 */
export function moveType(text: string): string | null {
  if (text.length > longestName) return null
  const name = decoded(text).replaceAll(/\s/g, '')
  if (!structName.test(name)) return null
  return name.replaceAll(
    /\b0x0*([0-9a-f]+)/gi,
    (_address, digits: string) => `0x${digits.toLowerCase()}`,
  )
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
