// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'

/** A self-signed certificate that is valid for a hundred years. */
const certificate = `-----BEGIN CERTIFICATE-----
MIIBdDCCARugAwIBAgIUMXZPu44TH4zs6cBgafnrj+MOhFIwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjExMDM1NDdaGA8yMTI2MTAyODEwMzU0
N1owDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAwh
nXKk+dtfaoEZNfdXYjNfKnCEGdhp7RYT+FBlVsyragu6WeLilbh11a069H+L+NAb
AT9prU6UU6AH4vWc1IajUzBRMB0GA1UdDgQWBBRpMCgSxMMm+9wFOjLRWFx2BCNj
ODAfBgNVHSMEGDAWgBRpMCgSxMMm+9wFOjLRWFx2BCNjODAPBgNVHRMBAf8EBTAD
AQH/MAoGCCqGSM49BAMCA0cAMEQCIBkLUit6nelIFdvY0WeRC2eddXC6wuEtnWp0
HFk24xNgAiBInnel6/SjvA86L6om3eV1iJlBb6vxrTsRR68Cq178RQ==
-----END CERTIFICATE-----
`

const key = createPrivateKey({
  format: 'jwk',
  key: {
    kty: 'EC',
    crv: 'P-256',
    x: 'DCGdcqT5219qgRk191diM18qcIQZ2GntFhP4UGVWzKs',
    y: 'agu6WeLilbh11a069H-L-NAbAT9prU6UU6AH4vWc1IY',
    d: '9APqkcEik3RWBVkzJakPvJatgVO45J11N40QuXNe8sc',
  },
})

const otherKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey

function textOf(keyObject: KeyObject): string {
  return keyObject.export({ type: 'pkcs8', format: 'pem' })
}

/** PEM texts by their placeholder in golden files: a certificate, its key, and another key. */
export const pemTexts: ReadonlyMap<string, string> = new Map([
  ['@certificate', certificate],
  ['@key', textOf(key)],
  ['@other-key', textOf(otherKey)],
])
