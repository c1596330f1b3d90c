// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { createSecureContext } from 'node:tls'

/** Contents of the files in a `tls` section; unset parts are not validated. */
export interface TlsTexts {
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** Why a TLS file cannot be used. */
export interface TlsFault {
  /** The affected key of the `tls` section. */
  readonly key: 'ca-file' | 'cert-file' | 'key-file'
  /** Follows the name of the file. Never quotes its contents. */
  readonly message: string
}

/** Validates PEM texts as the router does at start. Null if they are valid. */
export function validateTls({ ca, cert, key }: TlsTexts): TlsFault | null {
  const faults = [
    fault('ca-file', ca, readCertificates),
    fault('cert-file', cert, readCertificates),
    fault('key-file', key, createPrivateKey, 'holds no private key in PEM form without a password'),
  ]
  const first = faults.find((each) => each !== null) ?? null
  if (first !== null || cert === undefined || key === undefined) return first
  const pair = (): unknown => createSecureContext({ cert, key })
  return fault('key-file', key, pair, 'cannot be used with the certificate')
}

function fault(
  key: TlsFault['key'],
  text: string | undefined,
  read: (text: string) => unknown,
  message = 'holds no certificates in PEM form',
): TlsFault | null {
  if (text === undefined) return null
  try {
    read(text)
    return null
  } catch (error) {
    return { key, message: `${message} (${(error as Error).message})` }
  }
}

const certificate = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Node silently skips invalid certificates, and would then trust no server. */
function readCertificates(text: string): void {
  const found = text.match(certificate) ?? []
  const opened = text.split('-----BEGIN CERTIFICATE-----').length - 1
  if (found.length === 0) throw new Error('there is no BEGIN CERTIFICATE with its END')
  if (opened > found.length) throw new Error('one of them has no end')
  for (const each of found) new X509Certificate(each)
}
