// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { inspect } from 'node:util'

/**
 * A value that must not be printed. Every conversion to text (templates, JSON, loggers, crash
 * dumps) yields the printable form. Only `reveal()` returns the value.
 */
export class Secret<T = string> {
  readonly #value: T
  readonly #printable: string
  readonly #keys: readonly string[]

  constructor(value: T, printable = '[redacted]', keys?: readonly string[]) {
    this.#value = value
    this.#printable = printable
    this.#keys = keys ?? (typeof value === 'string' ? [value] : [])
  }

  /** The raw value: send it over the wire, never put it in a message. */
  reveal(): T {
    return this.#value
  }

  /** Parts that are certainly keys rather than ordinary words. Used to redact answers. */
  keys(): readonly string[] {
    return this.#keys
  }

  toString(): string {
    return this.#printable
  }

  toJSON(): string {
    return this.#printable
  }

  [inspect.custom](): string {
    return this.#printable
  }
}

/** Converts a value to text with its secrets, for comparison only. Never print it. */
export function exactText(value: unknown): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, printable) {
    // `toJSON` has already replaced the value with its printable form.
    const own = this[key]
    if (own instanceof Secret) return own.reveal() as unknown
    return own instanceof Map ? [...own] : (printable as unknown)
  })
}

/* Heuristics that find keys in headers and URLs: see docs/decisions/0034. */

const minLength = 8
/** A text this long counts as a key, whatever its characters. */
const surelyKeyLength = 16

const keyName = /key|token|secret|passw|pwd|auth|access|credential|signature|jwt|cookie|session/i
const host = /^(?:(?:[a-z0-9_-]{1,63}\.)+[a-z]{2,24}|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?$/i
/** Matches `mainnet`, `Query`, `v1alpha1`, `testnet4`, and the number of `cosmoshub-4`. */
const wordOrNumber = /^(?:[a-z]+|[A-Z]?[a-z]+\d{1,2}|[A-Z]{1,4}\d|v\d+[a-z]+\d*|\d{1,4})$/
const network = /mainnet|testnet|devnet|sepolia|holesky|hoodi|chain/i

/** Part of a URL, decoded as a server would. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch (error) {
    if (error instanceof URIError) return part
    throw error
  }
}

/** Likely keys in a placeholder's value, which may be a full URL or `Bearer …`. */
export function likelyKeys(value: string): readonly string[] {
  return [value, ...piecesOf(value)].filter(looksLikeKey)
}

/**
 * Keys in a header. If its name suggests a key: the full value, and the value without an auth
 * scheme such as `Bearer`. Any other header has none unless it came from a placeholder.
 */
export function keysOfHeader(name: string, value: string): readonly string[] {
  if (!keyName.test(name)) return []
  return [value, value.replace(/^[A-Za-z][\w-]*\s+/, ''), ...likelyKeys(value)]
}

/** Keys in a query parameter: its value, if the name or the value itself suggests a key. */
export function keysOfParameter(name: string, value: string): readonly string[] {
  return [...[name, value].filter(looksLikeKey), ...(keyName.test(name) ? [value] : [])]
}

export function keysOfUrl(url: URL): readonly string[] {
  const inQuery = [...url.searchParams].flatMap(([name, value]) => keysOfParameter(name, value))
  return [...url.pathname.split('/').filter(looksLikeKey), ...inQuery]
}

/**
 * Whether a text is long and random enough to be a key. Words, network names, short numbers, hosts
 * and paths are not, because they are common in answers.
 */
function looksLikeKey(text: string): boolean {
  const value = decoded(text).trim()
  if (/^\d+$/.test(value)) return value.length >= 12
  if (value.length < minLength || host.test(value)) return false
  // An encoded slash is part of a key.
  if (text.includes('/')) return false
  if (isName(value)) return value.length >= surelyKeyLength && !network.test(value)
  return value.length >= surelyKeyLength || (/\p{L}/u.test(value) && /\d/.test(value))
}

function isName(value: string): boolean {
  if (/^[\p{L}\s_.+,:;=&@/-]+$/u.test(value)) return true
  return value.split(/[\s_.+:/-]+/).every((part) => wordOrNumber.test(part))
}

/** Splits a value into pieces, without the host of a URL. */
function piecesOf(value: string): readonly string[] {
  return value.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').split(/[\s/?&=#:@;,]+/)
}

/**
 * Texts that logs redact: secrets, their keys and their other parts. Single words such as `mainnet`
 * are exempt because they are common in log messages.
 */
export function hiddenInLogs(secrets: readonly Secret[]): readonly string[] {
  const isWord = (piece: string) =>
    piece.length < surelyKeyLength && /^(?:[A-Z]?[a-z]+(?:[-_.][a-z]+)*)$/.test(piece)
  return secrets.flatMap((secret) => {
    const value = secret.reveal()
    // The value is an origin, which is public.
    if (value === String(secret)) return []
    const query = URL.parse(value)?.searchParams.values() ?? []
    return [value, ...secret.keys(), ...query, ...piecesOf(value).filter((each) => !isWord(each))]
  })
}

/** Matches an entire path segment, query value, or word of a header value. */
const segment = (pattern: string, flags = '', end = '[/?#&\\s]') =>
  RegExp(`(?<=^|[/=\\s])(?:${pattern})(?=$|${end})`, flags)

/** Placeholders of documentation and other tools, which no server accepts as a key. */
const leftOver = [
  /\{\{[^{}]*\}\}/,
  /(?<!\$)<[A-Za-z][\w .-]*>/,
  /(?<![\w$])\$[A-Z][A-Z0-9_]+(?![\w{<])/,
  /(?<![\w.$])\{[A-Z][\w-]*\}/i,
  /\byour[-_ ](?:[a-z\d]+[-_ ])*(?:key|token|secret|password|id|here|endpoint|project)\b/i,
  /\bYOUR_?[A-Z_]*(?:KEY|TOKEN|SECRET|ID)\b/,
  /\.{3}|…/,
  segment('(?:[A-Z\\d]+[-_])*(?:(?:API)?KEY|TOKEN|(?<=_)SECRET|PROJECT[-_]?ID)(?:[-_]HERE)?'),
  segment('(?:my|insert|enter|paste|put|add)(?:[-_][a-z]+)*[-_](?:key|token|secret|id|here)', 'i'),
  segment('[%_[]+(?:API_)?KEY[%_\\]]+|(?:REPLACE|CHANGE)[-_]?ME'),
  segment('(?:x{3,}[-_]?)+|[*•]{3,}|undefined', 'i'),
  // A path may hold the word in front of the key.
  segment('api[-_]?key', 'i', '[?#&\\s]'),
]

/** What is wrong with a value in which a placeholder was not replaced; null: nothing. */
export function leftOverFault(value: string, written: string) {
  const found = leftOver.map((pattern) => pattern.exec(value)?.[0]).find((each) => each)
  if (!found) return null
  // The value of a variable is not shown.
  const shown = written.includes(found) ? `: ${found}` : ''
  const hint = found.startsWith('$')
    ? `Write \${${found.slice(1)}} for the value of the variable.`
    : 'Write the key itself, or ${NAME} and set the variable NAME, for example in keys.env (--env-file).'
  return { fault: `holds a placeholder that was not replaced${shown}`, hint }
}
