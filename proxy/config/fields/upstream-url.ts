// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { suggestion } from '../nearest.ts'
import { keysOfUrl, leftOverFault, Secret } from '../secret.ts'
import type { Scalar } from '../yaml/scalar.ts'
import { type Field, field, type Reading } from './field.ts'

const urlSchemes = ['http', 'https', 'ws', 'wss', 'grpc', 'grpcs'] as const

/** A URL for the transports, with user and password moved to a header. */
export interface UpstreamUrl {
  readonly url: Secret
  readonly scheme: (typeof urlSchemes)[number]
  /** `Basic …` if the URL had a user or a password. */
  readonly basicAuth: Secret | null
}

const hint =
  'Write one such as https://eth.example.com/v1, or grpcs://node.example.com:443 for gRPC over TLS.'
const portHint = 'Write a port from 1 to 65535, or none for that of the scheme.'

/** A node's URL. Messages never show it, because its path, query or host may contain keys. */
export const upstreamUrl: Field<UpstreamUrl> = field(
  {
    kind: 'URL',
    type: 'string',
    examples: ['https://eth.example.com/v2/${API_KEY}'],
    privacy: 'hidden',
  },
  readUrl,
)

function readUrl(text: string, scalar: Scalar): Reading<UpstreamUrl> {
  const wrong = (fault: string, remedy: string | null) => ({ fault, hint: remedy })
  const leftOver = leftOverFault(text, scalar.written)
  if (leftOver) return leftOver
  if (/[\r\n]/.test(text))
    return wrong('is a URL with a line break in it', 'Does the variable end with one?')
  if (/[\s\p{Cc}]/u.test(text))
    return wrong('is a URL with white space in it', 'Write a space as %20.')
  const [, written] = /^([A-Za-z][A-Za-z0-9+.-]{0,15}):\/\//.exec(text) ?? []
  if (written === undefined) return wrong('is a URL without a scheme', hint)
  const scheme = urlSchemes.find((known) => written.toLowerCase() === known)
  if (scheme === undefined)
    return wrong('is a URL with a scheme that is not known', suggestion(written, urlSchemes))
  const url = URL.parse(text)
  // Unknown schemes allow any host, and gRPC uses HTTP URLs.
  const isSendable = URL.canParse(text.replace(/^(?:grpc|ws)/i, 'http'))
  if (url === null || !isSendable || url.hostname === '') return wrong('is not a valid URL', hint)
  if (url.port === '0')
    return wrong('is a URL with port 0, to which no connection is possible', portHint)
  if (text.includes('#'))
    return wrong('is a URL with a fragment ("#...")', 'Write # as %23 if it is part of a key.')
  const basicAuth = takeBasicAuth(url)
  if (basicAuth === undefined)
    return wrong('is a URL with a wrong escape (%) in its user name or password', null)
  const keys = [...keysOfUrl(url), ...scalar.keys()]
  const secret = new Secret(url.href, printableOrigin(scalar.written), keys)
  return { value: { url: secret, scheme, basicAuth } }
}

/** Moves user and password out of a URL. Undefined if they cannot be decoded. */
function takeBasicAuth(url: URL): Secret | null | undefined {
  if (url.username === '' && url.password === '') return null
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    const token = Buffer.from(`${user}:${password}`).toString('base64')
    const keys = [password === '' ? user : password, token]
    url.username = ''
    url.password = ''
    return new Secret(`Basic ${token}`, undefined, keys)
  } catch (error) {
    if (error instanceof URIError) return undefined
    throw error
  }
}

/** The origin as written in the file: unrendered, and without user, password, path or query. */
function printableOrigin(written: string): string {
  const [, scheme = '', authority = ''] =
    /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)?([^/?#\\]*)/.exec(written) ?? []
  return scheme + authority.slice(authority.lastIndexOf('@') + 1)
}
