// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { V1EnvVar, V1PodSpec, V1Volume } from '@kubernetes/client-node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { main as operator } from '../../operator/cli/main.ts'
import { pemTexts } from '../../operator/testing/pem.ts'
import { Program } from './program.ts'
import { createWorkspace, type Workspace } from './workspace.ts'

/*
 * Every sample starts: the operator renders it, and the router reads the files that its pods would
 * mount. As in the image, there are only the bundle and the bundled specs below dist/.
 */

const root = join(import.meta.dirname, '../..')
let workspace: Workspace
/** Entry of the router in the layout of the image. */
let entry = ''

beforeAll(async () => {
  workspace = await createWorkspace()
  const [sources, image] = ['sources', 'app'].map((name) => join(workspace.directory, name))
  await mkdir(join(sources!, 'dist'), { recursive: true })
  for (const part of ['proxy', 'operator', 'specs', 'node_modules', 'package.json'])
    await symlink(join(root, part), join(sources!, part))
  await promisify(execFile)(process.execPath, [join(root, 'scripts/build.ts')], { cwd: sources! })
  await mkdir(image!)
  await rename(join(sources!, 'dist'), join(image!, 'dist'))
  entry = join(image!, 'dist/bin/router.mjs')
}, 120_000)
afterAll(() => workspace[Symbol.asyncDispose]())

interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly data?: Readonly<Record<string, string>>
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: { readonly template: { readonly spec: V1PodSpec } }
}

const manifestsOf = (text: string): readonly Manifest[] =>
  parseAllDocuments(text).map((each) => each.toJS())

const hosts = new Map<string, string>()

/** Replaces each host by an unused port on loopback, because tests use no other network. */
function onLoopback(text: string): string {
  const moved = (host: string) =>
    hosts.getOrInsertComputed(host, () => `127.0.0.1:${hosts.size + 2}`)
  return text
    .replaceAll(/(?<=:\/\/)[a-z][\w-]*(?:\.[\w-]+)+(?::\d+)?/g, moved)
    .replaceAll(/(?<=[-:] )[a-z][\w-]*(?:\.[\w-]+)+:\d+/g, moved)
    .replaceAll(/(?<=(?:network|listen)-address: )0\.0\.0\.0:\d+/g, '127.0.0.1:0')
}

/** The result of `kubectl create secret tls`, which the mutual TLS sample requires. */
const clientCertificate: Manifest = {
  kind: 'Secret',
  metadata: { name: 'node-client-certificate' },
  stringData: {
    'tls.crt': pemTexts.get('@certificate') ?? '',
    'tls.key': pemTexts.get('@key') ?? '',
  },
}

async function rendered(text: string): Promise<readonly Manifest[]> {
  const [out, said] = [[] as string[], [] as string[]]
  const code = await operator(['render', '-f', '-'], {
    stdin: (async function* () {
      yield Buffer.from(text)
    })(),
    stdout: { write: (words: string) => out.push(words) },
    stderr: { write: (words: string) => said.push(words) },
    environment: {},
  })
  expect([code, said.join('')]).toEqual([0, ''])
  return manifestsOf(out.join(''))
}

/** Mounts the volumes of a router's container like the kubelet, below a folder instead of `/`. */
async function startPod(
  name: string,
  pod: V1PodSpec,
  known: readonly Manifest[],
): Promise<Program> {
  const dataOf = (kind: string, wanted: string | undefined) => {
    const found = known.find((each) => each.kind === kind && each.metadata.name === wanted)
    if (found === undefined) throw new Error(`there is no ${kind} ${wanted}`)
    const { data = {}, stringData } = found
    const decoded = Object.entries(data).map(([key, value]) => {
      return [key, kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value] as const
    })
    return { ...Object.fromEntries(decoded), ...stringData }
  }
  const filesOf = ({ configMap, projected }: V1Volume): Readonly<Record<string, string>> =>
    configMap
      ? dataOf('ConfigMap', configMap.name)
      : Object.fromEntries(
          (projected?.sources ?? []).flatMap(({ secret }) =>
            (secret?.items ?? []).map(({ key, path }) => {
              return [path, dataOf('Secret', secret?.name)[key] ?? ''] as const
            }),
          ),
        )
  const { args = [], env = [], volumeMounts = [] } = pod.containers[0]!
  const mounts = volumeMounts.map(({ mountPath }) => mountPath).filter((path) => path !== '/tmp')
  const place = join(workspace.directory, 'pods', name)
  const placed = (text: string) =>
    mounts.reduce((moved, path) => moved.replaceAll(path, join(place, path)), onLoopback(text))
  for (const { name: volume, mountPath } of volumeMounts) {
    const files = filesOf(pod.volumes!.find((each) => each.name === volume)!)
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(place, mountPath, path, '..'), { recursive: true })
      await workspace.write(join('pods', name, mountPath, path), placed(text))
    }
  }
  const values = new Map<string, string>()
  const valueOf = ({ value = '', valueFrom }: V1EnvVar): string => {
    const secret = valueFrom?.secretKeyRef
    if (secret) return dataOf('Secret', secret.name)[secret.key] ?? ''
    return placed(value).replaceAll(/\$\((\w+)\)/g, (_, other: string) => values.get(other) ?? '')
  }
  for (const variable of env) values.set(variable.name, valueOf(variable))
  return new Program(args.map(placed), { entry, env: Object.fromEntries(values), cwd: place })
}

const samples = (await readdir(join(root, 'samples'))).toSorted()

test.each(samples)('%s starts', async (sample) => {
  const text = onLoopback(await readFile(join(root, 'samples', sample), 'utf8'))
  if (!text.includes('kind: RpcRouter')) return expect(sample).toBe('house-rules.yaml')
  const objects = await rendered(text)
  const known = [...manifestsOf(text), ...objects, clientCertificate]
  const pods = objects.filter(({ kind }) => kind === 'Deployment')
  expect(pods).not.toEqual([])
  for (const { metadata, spec } of pods) {
    await using program = await startPod(metadata.name, spec!.template.spec, known)
    await program.logged('router started')
  }
})
