// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Fault, type Field, field, type Reading } from './field.ts'
import { nearest } from '../nearest.ts'
import { keysOfUrl, likelyKeys, Secret } from '../secret.ts'
import type { NodeUrlConfig } from '../types.ts'

type Scheme = NodeUrlConfig['scheme']
/** Schemes that a node's URL can have. */
const urlSchemes: readonly Scheme[] = ['http', 'https', 'ws', 'wss', 'grpc', 'grpcs']

/** A URL as the transports need it: without its user and password, which have become a header. */
export interface UpstreamUrl {
  readonly url: Secret
  readonly scheme: Scheme
  /** `Basic …` when the URL carried a user or a password. */
  readonly basicAuth: Secret | null
}

const hint =
  'Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.'

const portHint = 'Write a port from 1 to 65535, or none for that of the scheme.'

/** The URL of a node. No message ever shows it, for keys stand in paths, queries and host names. */
export function upstreamUrl(): Field<UpstreamUrl> {
  const json = { type: 'string', examples: ['https://eth.example.com/v2/${API_KEY}'] }
  return field({ kind: 'URL', json, privacy: 'hidden' }, (text, scalar): Reading<UpstreamUrl> => {
    const fault = syntaxFault(text)
    if (fault !== null) return fault
    const scheme = urlSchemes.find((known) => text.toLowerCase().startsWith(`${known}://`))
    if (scheme === undefined) return schemeFault(text)
    const url = URL.parse(text)
    if (url === null || url.hostname === '') return { fault: 'is not a valid URL', hint }
    if (url.port === '0') {
      return { fault: 'is a URL with port 0, which nobody can connect to', hint: portHint }
    }
    if (text.includes('#')) {
      return {
        fault: 'is a URL with a fragment ("#...")',
        hint: 'Write # as %23 if it is part of a key.',
      }
    }
    const basicAuth = takeBasicAuth(url)
    if (basicAuth === undefined) {
      return { fault: 'is a URL with a wrong escape (%) in its user name or password', hint: null }
    }
    const keys = [...keysOfUrl(url), ...scalar.filledIn().flatMap(likelyKeys)]
    return {
      value: {
        url: new Secret(url.href, printableOrigin(scalar.written), keys),
        scheme,
        basicAuth: basicAuth && new Secret(basicAuth.header, undefined, basicAuth.keys),
      },
    }
  })
}

function syntaxFault(text: string): Fault | null {
  if (/[\r\n]/.test(text)) {
    return { fault: 'is a URL with a line break in it', hint: 'Does the variable end with one?' }
  }
  if (/[\s\p{Cc}]/u.test(text)) {
    return { fault: 'is a URL with white space in it', hint: 'Write a space as %20.' }
  }
  return null
}

function schemeFault(text: string): Fault {
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]{0,15}):\/\//.exec(text)?.[1]
  if (scheme === undefined) return { fault: 'is a URL without a scheme', hint }
  const near = nearest(scheme, urlSchemes)
  const allowed = `Allowed: ${urlSchemes.join(', ')}.`
  return {
    fault: 'is a URL with a scheme that is not known',
    hint: near === null ? allowed : `Did you mean ${near}? ${allowed}`,
  }
}

/** Takes user and password out of a URL. Undefined when they are not decodable. */
function takeBasicAuth(url: URL): { header: string; keys: readonly string[] } | null | undefined {
  if (url.username === '' && url.password === '') return null
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const token = Buffer.from(`${user}:${password}`).toString('base64')
    const keys = [password === '' ? user : password, token]
    url.username = ''
    url.password = ''
    return { header: `Basic ${token}`, keys }
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** The origin as it stands in the file: placeholders unrendered, no user, password, path or query. */
function printableOrigin(written: string): string {
  const [, scheme = '', authority = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?([^/?#\\]*)/.exec(written) ?? []
  return scheme + authority.slice(authority.lastIndexOf('@') + 1)
}
