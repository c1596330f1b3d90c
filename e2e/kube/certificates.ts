// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

/** PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

/** The subject of a certificate: Kubernetes reads the user from CN and the groups from O. */
export interface Subject {
  readonly user: string
  readonly groups?: readonly string[]
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const dayMs = 86_400_000

/** The authority of one cluster. */
export class Authority {
  readonly cert: string
  readonly #key: CryptoKey
  readonly #issuer: string

  private constructor(cert: string, key: CryptoKey) {
    this.cert = cert
    this.#key = key
    this.#issuer = new x509.X509Certificate(cert).subject
  }

  static async create(): Promise<Authority> {
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const own = await x509.X509CertificateGenerator.createSelfSigned({
      ...validity(),
      name: 'CN=test cluster',
      keys,
      signingAlgorithm: algorithm,
      extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
    })
    return new Authority(own.toString('pem'), keys.privateKey)
  }

  /** The authority whose certificate and key were kept. PEM. */
  static async load(cert: string, key: string): Promise<Authority> {
    const [pkcs8] = x509.PemConverter.decode(key)
    return new Authority(
      cert,
      await crypto.subtle.importKey('pkcs8', pkcs8!, algorithm, false, ['sign']),
    )
  }

  /** For `load`. PEM. */
  exportKey(): Promise<string> {
    return pemOf(this.#key)
  }

  /** A certificate for a server on this machine's loopback, and for a client as well. */
  async issue({ user, groups = [] }: Subject): Promise<KeyPair> {
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    const certificate = await x509.X509CertificateGenerator.create({
      ...validity(),
      // One O a group, in sets of their own.
      subject: new x509.Name([
        ...groups.map((group) => ({ O: [group] })),
        { CN: [user] },
      ]).toString(),
      issuer: this.#issuer,
      publicKey: keys.publicKey,
      signingKey: this.#key,
      signingAlgorithm: algorithm,
      extensions: [
        new x509.SubjectAlternativeNameExtension([
          { type: 'ip', value: '127.0.0.1' },
          { type: 'dns', value: 'localhost' },
        ]),
      ],
    })
    return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) }
  }
}

/** The key with which service account tokens are signed: the public part checks them. */
export async function createSigningKey(): Promise<{
  readonly key: string
  readonly publicKey: string
}> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const spki = await crypto.subtle.exportKey('spki', keys.publicKey)
  return {
    key: await pemOf(keys.privateKey),
    publicKey: x509.PemConverter.encode(spki, 'PUBLIC KEY'),
  }
}

async function pemOf(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}

function validity() {
  const nowMs = Date.now()
  return { notBefore: new Date(nowMs - dayMs), notAfter: new Date(nowMs + 30 * dayMs) }
}
