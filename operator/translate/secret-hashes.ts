// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { createHmac } from 'node:crypto'
import { digest } from './digest.ts'
import { valueOf } from './environment.ts'
import type { ReferenceData, SecretKey } from './reference-data.ts'

/** A hash of each key of a Secret that pods use, under a hash of where it stands: both of 16 digits. */
export type SecretHashes = ReadonlyMap<string, string>

/**
 * Hashes what pods use of Secrets, so that a change is known by it. The hash is keyed with the uid of the Secret, which
 * only those learn who may read the Secret: others cannot try out values against it.
 *
 * @param before what pods run with: stands for what is gone
 */
export function hashSecrets(
  used: readonly SecretKey[],
  data: ReferenceData,
  before: SecretHashes,
): SecretHashes {
  const hashes = used.map((each) => {
    const place = placeOf(each)
    return [place, hashOf(each, data) ?? before.get(place) ?? ''] as const
  })
  return new Map(hashes.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/** Whether a key has another value than pods run with; one that is gone has none. */
export function hasChanged(secret: SecretKey, data: ReferenceData, before: SecretHashes): boolean {
  const hash = hashOf(secret, data)
  return hash !== null && hash !== before.get(placeOf(secret))
}

function placeOf({ name, key }: SecretKey): string {
  return digest([name, key])
}

/** Null for a value that is gone; empty for that of a Secret which the API server has not made. */
function hashOf(secret: SecretKey, data: ReferenceData): string | null {
  const value = valueOf(secret, data)
  if (value === null) return null
  const uid = data.secret(secret.name)?.uid
  return uid === undefined ? '' : createHmac('sha256', uid).update(value).digest('hex').slice(0, 16)
}

/** `3f0a…=9b1c…,…`, in the order of the places. */
export function writeSecretHashes(hashes: SecretHashes): string {
  return [...hashes].map(([place, hash]) => `${place}=${hash}`).join(',')
}

/** Reads what `writeSecretHashes` wrote; what is of another form is passed over. */
export function readSecretHashes(text: string): SecretHashes {
  const found = text.matchAll(/\b(?<place>[0-9a-f]{16})=(?<hash>[0-9a-f]{16})\b/g)
  return new Map([...found].map(({ groups }) => [groups?.['place'] ?? '', groups?.['hash'] ?? '']))
}
