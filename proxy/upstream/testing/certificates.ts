// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import 'reflect-metadata'
import { isIP } from 'node:net'
import * as x509 from '@peculiar/x509'

/** A certificate and its key in PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

interface Days {
  readonly from: number
  readonly to: number
}

/** A private certificate authority for a test, in PEM. */
export interface Authority {
  readonly cert: string
  /** Private key, for `loadAuthority`. */
  exportKey(): Promise<string>
  /**
   * Issues a certificate for a client, or for a server with this host or address. Kubernetes reads
   * the user from the name and the groups from the organizations.
   * @param days start and end of the validity, in days from now
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

/** Restores an authority from its certificate and key in PEM. */
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
      // Each group is an O attribute in a separate set.
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

/** A self-signed server certificate for `localhost`. */
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

/** A key pair for service account tokens, in PEM. */
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
