// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

const leastLength = 8
/** So long a text is a key, whatever it is made of. */
const surelyKeyLength = 16
const leastDigits = 12

const keyName = /key|token|secret|passw|pwd|auth|access|credential|signature|jwt|cookie|session/i
const mediaType =
  /^(?:\*|application|audio|font|image|message|model|multipart|text|video)\/[\w.+*-]+(?:\s*;.*)?$/i
const host = /^(?:(?:[a-z0-9_-]{1,63}\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?$/i
/** `mainnet`, `Query`, `v1alpha1`, `testnet4`, and the number of `cosmoshub-4`. */
const wordOrNumber = /^(?:[a-z]+|[A-Z]?[a-z]+\d{1,2}|[A-Z]{1,4}\d|v\d+[a-z]+\d*|\d{1,4})$/
const network = /mainnet|testnet|devnet|sepolia|holesky|hoodi|chain/i

/** Whether a header or a parameter of this name carries a key, whatever its value looks like. */
export function soundsLikeKey(name: string): boolean {
  return keyName.test(name)
}

/** Whether this is what `Accept` and `Content-Type` carry. */
export function isMediaType(value: string): boolean {
  return value.split(',').every((each) => mediaType.test(each.trim()))
}

/**
 * Whether a text looks long and random enough to be a key. Words, names of networks, short numbers, hosts, paths and
 * media types do not: answers are full of them.
 */
export function looksLikeKey(text: string): boolean {
  const value = decoded(text).trim()
  if (/^\d+$/.test(value)) return value.length >= leastDigits
  if (value.length < leastLength || isMediaType(value) || host.test(value)) return false
  // Encoded, a slash is part of a key.
  if (text.includes('/')) return isBase64(value)
  if (isName(value)) return value.length >= surelyKeyLength && !network.test(value)
  return value.length >= surelyKeyLength || (/\p{L}/u.test(value) && /\d/.test(value))
}

function isName(value: string): boolean {
  if (/^[\p{L}\s_.+,:;=&@/-]+$/u.test(value)) return true
  return value.split(/[\s_.+:/-]+/).every((part) => wordOrNumber.test(part))
}

/** Not any path: with what only base64 has. */
function isBase64(value: string): boolean {
  if (!/^[A-Za-z0-9+/]{16,}={0,2}$/.test(value) || !/[+=]/.test(value)) return false
  return /[a-z]/.test(value) && /[A-Z]/.test(value) && /\d/.test(value)
}

/** A part of a URL as a server understands it. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}
