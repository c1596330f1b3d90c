// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Keys that files of kindred routers have, and what to write instead. */
const hints: ReadonlyMap<string, string> = new Map([
  ['static-providers', 'Primary upstreams are the entries of direct-rpc.'],
  ['backup-providers', 'Upstreams that take over are the entries of backup-direct-rpc.'],
  ['geolocation', 'Upstreams are chosen by what is measured of them. Remove the key.'],
  ['stake', 'Upstreams are chosen by what is measured of them; see strategy. Remove the key.'],
  [
    'internal-path',
    'Remove the key, and the path from the end of an http URL: the spec says which path a method has, and the router appends it. A ws URL stays whole, for nothing is appended to it.',
  ],
  ['ip-forwarding', 'The address of a client is never sent to an upstream. Remove the key.'],
  ['methods', 'Which methods a URL serves follows from its addons. Remove the key.'],
  ['use-tls', 'TLS follows from the scheme of the URL: https, wss or grpcs. Remove the key.'],
  ['allow-insecure', 'Write tls: {insecure-skip-verify: true} in auth-config.'],
  ['cacert-pem', 'Write tls: {ca-file: ...} in auth-config.'],
  ['cert-pem', 'Write tls: {cert-file: ...} in auth-config.'],
  ['key-pem', 'Write tls: {key-file: ...} in auth-config.'],
  ['tls-enabled', 'Listeners speak plaintext; TLS ends at the edge in front. Remove the key.'],
  ['disable-tls', 'Listeners speak plaintext. Remove the key.'],
  ['health-check-path', 'Health is told on metrics-listen-address. Remove the key.'],
])

/** What to write instead of a key of a kindred router; null for any other key. */
export function foreignKeyHint(key: string): string | null {
  return hints.get(key) ?? null
}
