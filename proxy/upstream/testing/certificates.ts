// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import 'reflect-metadata'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

interface Days {
  readonly from: number
  readonly to: number
}

/** A certificate authority of its own for a test. PEM. */
export interface Authority {
  readonly cert: string
  /** For `loadAuthority`. */
  exportKey(): Promise<string>
  /**
   * A certificate for a client, and for a server whose host or address is this name. Kubernetes reads the user from its name
   * and the groups from its organizations.
   * @param days when it begins and ends to be valid, in days from now
   */
  issue(name: string, groups?: readonly string[], days?: Days): Promise<KeyPair>
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000
const usualDays: Days = { from: -1, to: 30 }

export async function createAuthority(name: string): Promise<Authority> {
  const keys = await generateKeys()
  const own = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  })
  return authorityOf(own.toString('pem'), keys.privateKey)
}

/** The authority whose certificate and key were kept. PEM. */
export async function loadAuthority(cert: string, key: string): Promise<Authority> {
  const [pkcs8] = x509.PemConverter.decode(key)
  return authorityOf(
    cert,
    await crypto.subtle.importKey('pkcs8', pkcs8!, algorithm, false, ['sign']),
  )
}

function authorityOf(cert: string, signingKey: CryptoKey): Authority {
  const issuer = new x509.X509Certificate(cert).subject
  return {
    cert,
    exportKey: () => pemOf(signingKey),
    async issue(name, groups = [], days = usualDays) {
      const { publicKey, privateKey } = await generateKeys()
      // One O a group, in sets of their own.
      const parts = [...groups.map((group) => ({ O: [group] })), { CN: [name] }]
      const certificate = await x509.X509CertificateGenerator.create({
        ...validity(days),
        subject: new x509.Name(parts).toString(),
        issuer,
        publicKey,
        signingKey,
        signingAlgorithm: algorithm,
        extensions: /^[\w.-]+$/.test(name)
          ? [
              new x509.SubjectAlternativeNameExtension([
                { type: isIP(name) ? 'ip' : 'dns', value: name },
              ]),
            ]
          : [],
      })
      return { cert: certificate.toString('pem'), key: await pemOf(privateKey) }
    },
  }
}

/** A certificate of a server on `localhost` that nobody but itself vouches for. */
export async function selfSigned(): Promise<KeyPair> {
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...validity(),
    name: 'CN=localhost',
    keys,
    signingAlgorithm: algorithm,
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
  })
  return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) }
}

/** A key that signs tokens of service accounts, and the public part, which checks them. PEM. */
export async function createSigningKey(): Promise<{
  readonly key: string
  readonly publicKey: string
}> {
  const keys = await generateKeys()
  const spki = await crypto.subtle.exportKey('spki', keys.publicKey)
  return {
    key: await pemOf(keys.privateKey),
    publicKey: x509.PemConverter.encode(spki, 'PUBLIC KEY'),
  }
}

function generateKeys() {
  return crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function pemOf(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

function validity({ from, to }: Days = usualDays) {
  const nowMs = Date.now()
  return { notBefore: new Date(nowMs + from * dayMs), notAfter: new Date(nowMs + to * dayMs) }
}
