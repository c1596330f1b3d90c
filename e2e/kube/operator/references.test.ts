// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import {
  referencedKeys,
  referenceFields,
  type ReferenceField,
} from '../../../operator/api/testing/reference-fields.ts'
import { configMaps } from '../../../operator/resources/kinds.ts'
import { useOperatedFleet } from './operated-fleet.ts'

const { fleet } = useOperatedFleet()

const fields = referenceFields.map((field, index) => ({ ...field, name: `by-field-${index}` }))

/** Waits until the condition has this reason, and returns its message. */
async function resolvedIs(
  { kind, name }: { kind: ReferenceField['kind']; name: string },
  reason: string,
) {
  const is =
    kind === 'RpcRouter'
      ? fleet.routerIs(name, 'ResolvedRefs', reason)
      : fleet.providerIs(name, 'ResolvedRefs', reason)
  return (await is).message
}

test('every field reports a missing reference until it exists', async () => {
  for (const { kind, name, specWith } of fields)
    if (kind === 'RpcRouter') await fleet.router(name, specWith(`of-${name}`))
    else await fleet.provider('nobody', name, specWith(`of-${name}`))
  for (const field of fields) {
    const { name, path, refersTo } = field
    const message = await resolvedIs(field, `${refersTo}NotFound`)
    expect(message, path).toContain(`there is no ${refersTo} of-${name}`)
  }
  const texts = Object.fromEntries(referencedKeys.map((key) => [key, `id: ${key}`]))
  for (const { name, refersTo } of fields) {
    const metadata = { namespace: fleet.namespace, name: `of-${name}` }
    const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: texts }
    if (refersTo === 'Secret') await fleet.secret(metadata.name, texts)
    else await fleet.create(configMaps, configMap)
  }
  for (const field of fields) await resolvedIs(field, 'ResolvedRefs')
})
