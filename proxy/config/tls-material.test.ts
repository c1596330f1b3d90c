// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createAuthority } from '../upstream/testing/certificates.ts'
import { validateTls, type TlsTexts } from './tls-material.ts'

const authority = await createAuthority('root')
const { cert, key } = await authority.issue('client')
const other = await authority.issue('other')
const locked = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
  cipher: 'aes-256-cbc',
  passphrase: 'hunter2',
})
const halfOf = (pem: string) => pem.slice(0, pem.length / 2)

describe('PEM texts', () => {
  test.each<[string, TlsTexts]>([
    ['nothing', {}],
    ['an authority', { ca: authority.cert }],
    ['several authorities, with words between them', { ca: `# ours\n${authority.cert}\n${cert}` }],
    ['a certificate with its chain, and its key', { cert: `${cert}\n${authority.cert}`, key }],
    ['certificate and key in one file', { cert: `${cert}\n${key}`, key: `${cert}\n${key}` }],
  ])('%s can be used', (_what, texts) => {
    expect(validateTls(texts)).toBeNull()
  })

  test.each<[string, TlsTexts, string, RegExp]>([
    ['an invalid authority', { ca: 'hunter2' }, 'ca-file', /no certificates/],
    ['an empty authority', { ca: '' }, 'ca-file', /no certificates/],
    ['a key for an authority', { ca: key }, 'ca-file', /no certificates/],
    ['half an authority', { ca: halfOf(cert) }, 'ca-file', /no BEGIN CERTIFICATE with its END/],
    ['a second one that is cut', { ca: cert + halfOf(cert) }, 'ca-file', /has no end/],
    ['a certificate that is garbage', { cert: 'hunter2', key }, 'cert-file', /no certificates/],
    [
      'garbage in its frame',
      { cert: cert.replace(/M/g, '!'), key },
      'cert-file',
      /no certificates/,
    ],
    ['a key that is garbage', { cert, key: 'hunter2' }, 'key-file', /no private key/],
    ['a key with a password', { cert, key: locked }, 'key-file', /without a password/],
    ['the key of another', { cert, key: other.key }, 'key-file', /key values mismatch/],
  ])('%s is refused, without any part of it', (_what, texts, where, message) => {
    const fault = validateTls(texts)
    expect(fault).toMatchObject({ key: where, message: expect.stringMatching(message) as string })
    for (const line of Object.values(texts).join('\n').split('\n'))
      if (line.length > 6 && !line.startsWith('-----')) expect(fault?.message).not.toContain(line)
  })
})
