// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, writeFileSync } from 'node:fs'

// node scripts/sbom.ts VERSION NODE   after a build: dist/IMAGE.cdx.json, sources of each bundle

interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly license?: string
}

const [version = '', node = ''] = process.argv.slice(2)
const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))
const { packages } = read('package-lock.json') as { packages: Record<string, Locked> }
const runtime = {
  'bom-ref': 'node',
  type: 'platform',
  name: 'node',
  version: node.replace('v', ''),
  // The name by which scanners find the advisories of Node.
  cpe: `cpe:2.3:a:nodejs:node.js:${node.replace('v', '')}:*:*:*:*:*:*:*`,
}

for (const [image, program] of [
  ['rpc-router', 'router'],
  ['rpc-router-cache', 'router'],
  ['rpc-router-operator', 'rpc-operator'],
] as const) {
  const { inputs } = read(`dist/${program}.meta.json`) as { inputs: object }
  // A checkout that shares another's packages has their folder before `node_modules`.
  const places = Object.keys(inputs).map((path) =>
    /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(path),
  )
  const found = places.flatMap((place) => place?.[0] ?? []).map(componentAt)
  // Two packages may each have their own copy of a third.
  const components = [...new Map(found.map((each) => [each.purl, each])).values()]
  const name = { 'bom-ref': image, type: 'container', name: image, version }
  const dependsOn = [...components, runtime].map((component) => component['bom-ref'])
  const bom = {
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component: name } },
    components: [...components, runtime],
    dependencies: [{ ref: image, dependsOn }],
  }
  writeFileSync(`dist/${image}.cdx.json`, `${JSON.stringify(bom, null, 2)}\n`)
}

/** The package in the lockfile at a path such as `node_modules/a/node_modules/@b/c`. */
function componentAt(place: string) {
  const locked = packages[place]
  if (!locked) throw new Error(`package-lock.json has no ${place}`)
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const purl = `pkg:npm/${name.replace('@', '%40')}@${locked.version}`
  const [algorithm = '', digest = ''] = locked.integrity?.split('-') ?? []
  return {
    ...{ 'bom-ref': purl, type: 'library', name, version: locked.version, purl },
    hashes: [
      {
        alg: algorithm.replace('sha', 'SHA-'),
        content: Buffer.from(digest, 'base64').toString('hex'),
      },
    ],
    licenses: locked.license ? [{ expression: locked.license }] : [],
  }
}
