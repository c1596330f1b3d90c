// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isIP, isIPv4, isIPv6 } from 'node:net'
import type { Reading } from './field.ts'

/** A network address. `host` is an IPv4, an IPv6 without brackets, a name, or `0.0.0.0` for all. */
export interface Address {
  readonly host: string
  readonly port: number
  /** The config did not ask for it, so a router starts without it if it is in use. */
  readonly isOptional?: true
}

const hostLabel = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/

const hint =
  'Write host:port, such as 0.0.0.0:3360, "[::1]:3360" (in YAML with the quotes) or :3360.'

/**
 * Parses `host:port`, `:port`, `port` or `host`. A missing host means all interfaces.
 *
 * @param defaultPort replaces a missing port; null makes the port mandatory
 */
export function parseAddress(text: string, defaultPort: number | null): Reading<Address> {
  if (/^\d+$/.test(text)) return withPort('0.0.0.0', text)
  if (text.includes('://')) return { fault: 'is a URL; expected an address', hint }
  const [, before = '', last = ''] = /^(.*):(\d{3,5})$/s.exec(text) ?? []
  if (isIPv6(text) || isIPv6(before)) {
    const meant = isIPv6(before) ? `[${before}]:${last}` : `[${text}]:${defaultPort ?? 443}`
    return { fault: 'needs brackets', hint: `Write "${meant}", in YAML with the quotes.` }
  }
  const [, host = '', port = defaultPort?.toString()] = /^(.*?)(?::([^:\]]*))?$/s.exec(text) ?? []
  const bracketed = /^\[(.*)\]$/s.exec(host)?.[1]
  if (bracketed !== undefined && !isIPv6(bracketed))
    return { fault: 'has no IPv6 address in its brackets', hint }
  if (bracketed === undefined && host !== '' && !isHost(host))
    return { fault: 'is not an address', hint }
  return withPort(bracketed ?? (host === '' ? '0.0.0.0' : host), port)
}

function withPort(host: string, text: string | undefined): Reading<Address> {
  if (text === undefined) return { fault: 'has no port', hint }
  if (!/^\d{1,7}$/.test(text)) return { fault: 'has no valid port', hint }
  const port = Number(text)
  if (port <= 65_535) return { value: { host, port } }
  return { fault: 'has a port that does not exist', hint: 'The maximum is 65535.' }
}

function isHost(text: string): boolean {
  if (/^[0-9.]+$/.test(text)) return isIPv4(text)
  return text.length <= 253 && text.split('.').every((label) => hostLabel.test(label))
}

/** Whether a host is an IP address or `localhost`, neither of which is a secret. */
export function isPlainHost(host: string): boolean {
  return host === 'localhost' || isIP(host) !== 0
}

/** Whether a host always refers to the local machine. */
export function isLocalHost(host: string): boolean {
  return /^(?:localhost|127\.[\d.]+|0\.0\.0\.0|::1?)$/.test(host)
}

/** Formats `host:port`, with brackets around an IPv6 address. */
export function formatAddress(address: Address): string {
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `${host}:${address.port}`
}

/** Whether two listeners cannot bind both addresses: same port, and one host covers the other. */
export function addressesOverlap(a: Address, b: Address): boolean {
  if (a.port !== b.port || a.port === 0) return false
  return covers(a.host, b.host) || covers(b.host, a.host)
}

function covers(host: string, other: string): boolean {
  if (host === other || host === '::') return true
  return host === '0.0.0.0' && !other.includes(':')
}

/** Matches digits that are no port (0, or above 65535), in syntax that RE2 and JavaScript share. */
export const noPort =
  '(0+|0*([1-9][0-9]{5,}|[7-9][0-9]{4}|6[6-9][0-9]{3}|65[6-9][0-9]{2}|655[4-9][0-9]|6553[6-9]))'

/** Matches a URL's scheme and authority, up to an invalid port. */
export const urlWithoutPort = `[a-z]+://[^/?]*:${noPort}([/?]|$)`
