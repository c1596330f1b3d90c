// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const day = 86_400_000

/** A certificate authority of its own for a test, and what it signs. */
export async function createAuthority(name: string) {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    extensions: [new x509.BasicConstraintsExtension(true, 1, true)],
  })
  return {
    cert: authority.toString('pem'),
    /**
     * A certificate for a server on `localhost` or for a client of this name.
     * @param days when it begins and ends to be valid, in days from now
     */
    async issue(subject: string, days = { from: -1, to: 1 }): Promise<KeyPair> {
      const own = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
      const certificate = await x509.X509CertificateGenerator.create({
        subject: `CN=${subject}`,
        issuer: authority.subject,
        publicKey: own.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: algorithm,
        notBefore: new Date(Date.now() + days.from * day),
        notAfter: new Date(Date.now() + days.to * day),
        extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: subject }])],
      })
      return { cert: certificate.toString('pem'), key: await pemOf(own.privateKey) }
    },
  }
}

/** A certificate of a server on `localhost` that nobody but itself vouches for. */
export async function selfSigned(): Promise<KeyPair> {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=localhost',
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(Date.now() - day),
    notAfter: new Date(Date.now() + day),
    extensions: [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'localhost' }])],
  })
  return { cert: certificate.toString('pem'), key: await pemOf(keys.privateKey) }
}

async function pemOf(key: CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY')
}
