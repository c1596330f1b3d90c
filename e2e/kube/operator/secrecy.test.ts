// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { createLogger, logObserver } from '../../../operator/cli/log.ts'
import type { KubeObject } from '../../../operator/kube/object.ts'
import { events } from '../../../operator/kube/event-recorder.ts'
import { secrets } from '../../../operator/resources/kinds.ts'
import { eventually } from '../../processes/eventually.ts'
import { useNamespace } from '../test-namespace.ts'
import { Fleet } from './fleet.ts'
import { runOperator } from './running-operator.ts'

const place = useNamespace()
const fleet = new Fleet(place)
const canary = 'CANARY5f2b91'

test('values of Secrets exist only in the Secrets', async () => {
  const lines: string[] = []
  const sink = new Writable({
    write(chunk: Buffer, _, done) {
      lines.push(chunk.toString())
      done()
    },
  })
  const observer = logObserver(createLogger('debug', sink))
  await using running = await runOperator({ ...place, namespaces: [place.namespace] }, { observer })
  // Covers every use of a value and every kind of invalid value.
  const values = {
    good: `${canary}-good`,
    'line-break': `${canary}-line\n`,
    space: `${canary} space#`,
    pem: `${canary}-pem`,
  }
  await fleet.secret('keys', values)
  const ref = (key: string) => ({ secretKeyRef: { name: 'keys', key } })
  const header = (key: string) => ({ headers: [{ name: 'x-key', valueFrom: ref(key) }] })
  const url = (key: string) => ({
    variables: [{ name: 'KEY', valueFrom: ref(key) }],
    nodeUrls: [{ url: 'https://node.example/${KEY}' }],
  })
  for (const key of ['good', 'line-break', 'space']) {
    const node = { url: 'https://node.example', auth: header(key) }
    await fleet.provider('canary', `header-${key}`, { nodeUrls: [node] })
    await fleet.provider('canary', `url-${key}`, url(key))
  }
  const tls = { ca: ref('pem') }
  await fleet.provider('canary', 'tls', {
    nodeUrls: [{ url: 'https://node.example', auth: { tls } }],
  })
  await fleet.router('canary')
  await fleet.routerIs('canary', 'Programmed', 'Programmed')
  await fleet.providerIs('header-line-break', 'Accepted', 'InvalidConfig')
  await fleet.providerIs('url-space', 'Accepted', 'InvalidConfig')
  await fleet.patch(secrets, 'keys', { stringData: { good: `${canary}-rotated` } })
  const found = await eventually(async () => {
    const all = await fleet.list(events)
    return all.some(({ reason }) => reason === 'SecretRotated') && all
  })
  const objects: readonly KubeObject[] = [...(await fleet.everything()), ...found]
  const others = objects.filter(({ kind }) => kind !== 'Secret')
  expect(others.length).toBeGreaterThan(10)
  const texts = [
    ...others.map((object) => JSON.stringify(object)),
    ...lines,
    await running.metrics.scrape(),
  ]
  const encoded = Buffer.from(canary).toString('base64').slice(0, 12)
  expect(texts.filter((text) => text.includes(canary) || text.includes(encoded))).toEqual([])
  expect(lines.some((line) => line.includes('Reconciled'))).toBe(true)
})
