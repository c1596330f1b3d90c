// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { judgeTls, type TlsFault } from '../../proxy/config/tls-material.ts'
import { standIn, valueOf } from './environment.ts'
import { configDirectory, secretDirectory } from './pod-paths.ts'
import type { ReferenceData } from './reference-data.ts'
import type { UpstreamPlan } from './router-document.ts'
import type { ProviderRefusal } from './violation.ts'

/** What is looked at of an entry of the config. */
interface TlsEntry {
  readonly 'node-urls': readonly {
    readonly 'auth-config'?: { readonly tls?: Partial<Record<TlsFault['key'], string>> }
  }[]
}

const fieldOf: Readonly<Record<TlsFault['key'], string>> = {
  'ca-file': 'ca',
  'cert-file': 'clientCertificate',
  'key-file': 'clientCertificate',
}

/** What the router would say of the certificates and keys of an upstream when it starts; those that are missing apart. */
export function refusalsOfTls(plan: UpstreamPlan, data: ReferenceData): readonly ProviderRefusal[] {
  const texts = new Map<string, { readonly source: string; readonly text: string | null }>()
  for (const { path, secret } of plan.files) {
    const source = `the key ${secret.key} of the Secret ${secret.name}`
    texts.set(`${secretDirectory}/${path}`, { source, text: valueOf(secret, data) })
  }
  for (const { name, text } of plan.copies)
    texts.set(`${configDirectory}/${name}`, { source: 'the ConfigMap', text })
  const { 'node-urls': nodeUrls } = plan.entry as unknown as TlsEntry
  return nodeUrls.flatMap((nodeUrl, index) => {
    const tls = nodeUrl['auth-config']?.tls ?? {}
    const textOf = (key: TlsFault['key']): string | undefined => {
      const text = texts.get(tls[key] ?? '')?.text ?? standIn
      return text === standIn ? undefined : text
    }
    const found = judgeTls({
      ca: textOf('ca-file'),
      cert: textOf('cert-file'),
      key: textOf('key-file'),
    })
    if (found === null) return []
    const field = `spec.nodeUrls[${index}].auth.tls.${fieldOf[found.key]}`
    const source = texts.get(tls[found.key] ?? '')?.source ?? ''
    return [{ reason: 'InvalidConfig' as const, field, message: `${source} ${found.message}` }]
  })
}
