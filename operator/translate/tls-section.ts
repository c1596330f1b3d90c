// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Tls } from '../api/tls.ts'
import type { YamlMap } from './canonical-yaml.ts'
import type { Place, ValueCollector } from './value-collector.ts'

/** The `tls` section of the config. Empty when nothing is set, which still means TLS where it is optional. */
export function tlsSection(place: Place, tls: Tls, collector: ValueCollector): YamlMap {
  const { ca, clientCertificate, serverName, insecureSkipVerify } = tls
  const at = (field: string, word: string): Place => ({
    field: `${place.field}.${field}`,
    words: [...place.words, word],
  })
  const clientFile = (word: string, key: string): string | undefined =>
    clientCertificate &&
    collector.secretFile(at('clientCertificate', word), { name: clientCertificate.secretName, key })
  return {
    'ca-file': ca && collector.file(at('ca', 'ca'), ca),
    'cert-file': clientFile('cert', clientCertificate?.certificateKey ?? ''),
    'key-file': clientFile('key', clientCertificate?.privateKeyKey ?? ''),
    'server-name': serverName,
    'insecure-skip-verify': insecureSkipVerify || undefined,
  }
}
