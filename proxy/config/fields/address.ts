// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Address } from '../types.ts'

const ipv4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/
const looksNumeric = /^[0-9.]+$/
const hostLabel = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/
const ipv6 = /^(?=.*:.*:)[0-9A-Fa-f:]+(?:\.[0-9.]+)?(?:%[A-Za-z0-9]+)?$/

/** Why a text is not an address, as a clause that follows the text itself, with the remedy. */
interface AddressFault {
  readonly message: string
  readonly hint: string
}

const example =
  'Write host:port, such as 0.0.0.0:3360, "[::1]:3360" (in YAML with the quotes) or :3360.'

/**
 * Reads `host:port`, `:port`, `port` or `host`. Without a host it means all interfaces.
 *
 * @param defaultPort what a missing port means; null when there must be one
 */
export function parseAddress(
  text: string,
  defaultPort: number | null,
): { readonly address: Address } | { readonly fault: AddressFault } {
  if (/^\d+$/.test(text)) return withPort('0.0.0.0', text)
  if (text.includes('://')) {
    return { fault: { message: 'is a URL, and an address is wanted', hint: example } }
  }
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/s.exec(text)
  if (bracketed !== null) {
    const [, host = '', port] = bracketed
    if (!isIpv6(host)) {
      return { fault: { message: 'has no IPv6 address in its brackets', hint: example } }
    }
    return withPort(host, port ?? defaultPort?.toString())
  }
  if (isIpv6(text)) {
    return {
      fault: {
        message: 'needs brackets',
        hint: `Write "[${text}]:${defaultPort ?? 443}", in YAML with the quotes.`,
      },
    }
  }
  const colon = text.lastIndexOf(':')
  const host = colon === -1 ? text : text.slice(0, colon)
  const port = colon === -1 ? defaultPort?.toString() : text.slice(colon + 1)
  if (host !== '' && !isHost(host)) {
    return { fault: { message: 'is not an address', hint: example } }
  }
  return withPort(host === '' ? '0.0.0.0' : host, port)
}

function withPort(
  host: string,
  text: string | undefined,
): { readonly address: Address } | { readonly fault: AddressFault } {
  if (text === undefined) return { fault: { message: 'has no port', hint: example } }
  const port = /^\d{1,7}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(port)) return { fault: { message: 'has no valid port', hint: example } }
  if (port > 65_535) {
    return { fault: { message: 'has a port that does not exist', hint: 'The highest is 65535.' } }
  }
  return { address: { host, port } }
}

/** The URL parser's own idea of an IPv6 address, zone ids aside. */
function isIpv6(text: string): boolean {
  return ipv6.test(text) && URL.canParse(`http://[${text.replace(/%.*$/, '')}]`)
}

function isHost(text: string): boolean {
  if (looksNumeric.test(text)) return ipv4.test(text)
  return text.length <= 253 && text.split('.').every((label) => hostLabel.test(label))
}

/** True for an IP address or `localhost`: something that is no secret. */
export function isPlainHost(host: string): boolean {
  return host === 'localhost' || ipv4.test(host) || isIpv6(host)
}

/** True for a host that is this machine, whatever machine it is. */
export function isLocalHost(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|::1?)$/.test(host)
}

/** Writes `host:port`, with brackets around an IPv6 address. */
export function formatAddress(address: Address): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `${host}:${address.port}`
}

/** True when two listeners cannot bind both: same port, and one host covers the other. */
export function addressesOverlap(a: Address, b: Address): boolean {
  if (a.port !== b.port || a.port === 0) return false
  return covers(a.host, b.host) || covers(b.host, a.host)
}

function covers(host: string, other: string): boolean {
  const [wide, narrow] = [canonicalHost(host), canonicalHost(other)]
  if (wide === narrow || wide === '::') return true
  return wide === '0.0.0.0' && !narrow.includes(':')
}

function canonicalHost(host: string): string {
  if (host.includes(':'))
    return new URL(`http://[${host.replace(/%.*$/, '')}]`).hostname.slice(1, -1)
  const name = host.toLowerCase()
  return name === 'localhost' ? '127.0.0.1' : name
}

/** Digits that are no port, 0 or more than 65535: a part of patterns, in the syntax that RE2 and JavaScript share. */
export const noPort =
  '(0+|0*([1-9][0-9]{5,}|[7-9][0-9]{4}|6[6-9][0-9]{3}|65[6-9][0-9]{2}|655[4-9][0-9]|6553[6-9]))'

/** The authority of a URL that ends with what is no port, from the scheme on. */
export const urlWithoutPort = `[a-z]+://[^/?]*:${noPort}([/?]|$)`

/** `host:port`. */
export const hostAndPortPattern = new RegExp(String.raw`^[^\s/@]+:(?!${noPort}$)[0-9]{1,5}$`)
