// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { randomBytes } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../processes/eventually.ts'
import { nodePod, onSystem, provider, router, serve, usePlace } from './cluster.ts'
import { Load, settled } from './load.ts'

/*
 * Keys in every place that accepts one, some of which the provider refuses. After traffic, changes
 * and errors no value is anywhere but in its Secret.
 */

const place = usePlace('secrets')
const { run, apply } = place
const canary = () => `canary-${randomBytes(8).toString('hex')}`
const keys = { path: canary(), header: canary(), query: canary(), refused: canary() }
/** Variables of a provider from keys of the Secret. */
const variables = (...names: (keyof typeof keys)[]) => ({
  variables: names.map((key) => ({
    name: key.toUpperCase(),
    valueFrom: { secretKeyRef: { name: 'keys', key } },
  })),
})

beforeAll(async () => {
  await serve(place, nodePod('keyed', 'keyed-node'))
  await place.ask('keyed:9001', `/accept/${keys.path},free`)
  const url = `http://keyed.${place.namespace}.svc:9001/free`
  const auth = {
    headers: [{ name: 'authorization', value: 'Bearer ${HEADER}' }],
    query: [{ name: 'key', value: '${QUERY}' }],
  }
  const byAuth = { ...variables('header', 'query'), nodeUrls: [{ url, auth }] }
  await apply(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: keys },
    provider(place, 'by-path', 'keyed', '${PATH}', variables('path')),
    provider(place, 'refused', 'keyed', '${REFUSED}', variables('refused')),
    provider(place, 'by-auth', 'keyed', '', byAuth),
    router('mainnet', {
      ...{ replicas: 2, sharedState: { mode: 'Managed' } },
      logging: { level: 'debug' },
    }),
  )
  await settled(place, 'mainnet')
})

test('no value of a Secret is anywhere but in its Secret', async () => {
  const load = await Load.start(place, 'mainnet')
  await load.during('keys in use', async () => {
    await eventually(async () => {
      const { byUpstream } = await load.now()
      expect(Object.keys(byUpstream).toSorted()).toEqual(['by-auth', 'by-path'])
    }, 60_000)
    await run('rollout', 'restart', 'deployment/mainnet-router')
    await settled(place, 'mainnet')
  })
  const password = await place.get('secret', 'mainnet-redis')
  const values = [...Object.values(keys), decoded(password.data.password)]
  const found: string[] = []
  let searched = 0
  for (const [where, text] of await everything()) {
    searched += text.length
    for (const value of values)
      for (const form of [value, Buffer.from(value).toString('base64')])
        if (text.includes(form)) found.push(`${where}: ${value.slice(0, 10)}`)
  }
  expect(found).toEqual([])
  expect(searched).toBeGreaterThan(1_000_000)
})

const decoded = (text: string) => Buffer.from(text, 'base64').toString()

/** All objects except Secrets, all logs, metrics and command lines, each with its source. */
async function everything(): Promise<[string, string][]> {
  const all: [string, string][] = []
  const resources = await run('api-resources', '--verbs=list', '-o', 'name')
  for (const resource of resources
    .trim()
    .split('\n')
    .filter((name) => name !== 'secrets')) {
    const { stdout } = await place.kubectl([
      'get',
      resource,
      '-A',
      '-o',
      'json',
      '--show-managed-fields',
    ])
    all.push([resource, stdout])
  }
  for (const at of [place, onSystem]) {
    const { items } = await at.get('pods')
    for (const { metadata, spec } of items) {
      const { name } = metadata
      const logs = await at.kubectl(['logs', name, '--all-containers', '--tail=-1'])
      const previous = await at.kubectl(['logs', name, '--all-containers', '--previous'])
      all.push([`logs of ${name}`, logs.stdout + previous.stdout])
      const port = spec.containers[0].ports?.find((each: any) => each.name === 'metrics')
      if (port === undefined) continue
      for (const path of ['/metrics', '/readyz?verbose'])
        all.push([`${name}${path}`, await at.ask(`${name}:${port.containerPort}`, path)])
      const read = `const fs = require('node:fs'); for (const id of fs.readdirSync('/proc')) if (+id) console.log(fs.readFileSync('/proc/' + id + '/cmdline', 'utf8'))`
      const lines = await at.run('exec', name, '--', '/usr/local/bin/node', '-e', read)
      expect(lines).toContain('/app/dist/bin/')
      all.push([`command lines of ${name}`, lines])
    }
  }
  return all
}
