// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { loadBundledSpecs } from '../../proxy/chain/load-catalog.ts'
import { writeObjects } from '../api/crd/kube-yaml.ts'
import type { KubeObject } from '../kube/object.ts'
import { readManifests, type ManifestText } from '../manifests/read-manifests.ts'
import { renderManifests } from '../manifests/render-manifests.ts'
import { imagesOf, type CommandIo, exitCodes, type FlagValues, valueOf } from './command-line.ts'

/** Manifests and their problems, one line each. */
interface ValidatedManifests {
  readonly objects: readonly KubeObject[]
  readonly routers: number
  readonly providers: number
  readonly problems: readonly string[]
  /** Valid effects that the owner may not expect. */
  readonly warnings: readonly string[]
}

/** Reads and validates the files of -f. */
async function validateManifests(
  values: FlagValues,
  version: string,
  stdin: CommandIo['stdin'],
): Promise<ValidatedManifests> {
  const nothing = { objects: [], routers: 0, providers: 0, warnings: [] }
  if (values.filename.length === 0) return { ...nothing, problems: ['Name files with -f.'] }
  try {
    const texts = await readFiles(values.filename, stdin)
    const set = readManifests(texts, valueOf(values, 'namespace') ?? 'default')
    const monitors = new Set(['PodMonitor', 'ServiceMonitor'])
    const allowLinkLocal = valueOf(values, 'allow-link-local') === 'true'
    const build = { images: imagesOf(values, version), monitors, allowLinkLocal }
    const rendered = renderManifests(set, await loadBundledSpecs(), build)
    const [routers, providers] = [set.routers.length, set.providers.length]
    const isEmpty = routers + providers === 0 && set.problems.length === 0
    const empty = isEmpty ? ['The files contain no RpcRouter and no UpstreamProvider.'] : []
    const problems = [...set.problems, ...rendered.problems, ...empty]
    return { ...rendered, routers, providers, problems }
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    return { ...nothing, problems: [error.message] }
  }
}

/**
 * Prints the objects that the operator would apply for the manifests, and problems on stderr.
 * @returns the exit code: 2 if there are problems
 */
export async function runRender(
  values: FlagValues,
  version: string,
  io: CommandIo,
): Promise<number> {
  const { objects, problems } = await validateManifests(values, version, io.stdin)
  io.stdout.write(writeObjects(objects, valueOf(values, 'output')))
  return endWith(problems, io)
}

/** Lists the checks that need an API server. */
const more =
  'The API server also checks rules between fields, immutable fields and policies: kubectl apply --dry-run=server -f FILES'

/**
 * Validates manifests. Prints problems on stderr and success on stdout, or JSON on stdout.
 * @returns the exit code: 0, even with warnings, or 2 on errors
 */
export async function runValidate(
  values: FlagValues,
  version: string,
  io: CommandIo,
): Promise<number> {
  const { routers, providers, problems, warnings } = await validateManifests(
    values,
    version,
    io.stdin,
  )
  const valid = problems.length === 0
  if (valueOf(values, 'output') === 'json') {
    io.stdout.write(`${JSON.stringify({ version: 1, valid, problems, warnings }, null, 2)}\n`)
    return valid ? exitCodes.done : exitCodes.invalid
  }
  const count = (number: number, kind: string) => `${number} ${kind}${number === 1 ? '' : 's'}`
  const counts = `${count(routers, 'RpcRouter')}, ${count(providers, 'UpstreamProvider')}`
  if (valid) io.stdout.write(`The operator would accept the manifests: ${counts}.\n${more}\n`)
  for (const warning of warnings) io.stderr.write(`rpc-operator: warning: ${warning}\n`)
  return endWith(problems, io)
}

function endWith(problems: readonly string[], { stderr }: CommandIo): number {
  for (const problem of problems) stderr.write(`rpc-operator: error: ${problem}\n`)
  return problems.length === 0 ? exitCodes.done : exitCodes.invalid
}

/** A file is unreadable; the message is one sentence. */
export class UnreadableFileError extends Error {}

/**
 * Reads the files of -f: files, directories recursively (.yaml, .yml, .json), `-` for standard
 * input. Reads each file once, even if it has several names.
 * @throws UnreadableFileError
 */
export async function readFiles(
  paths: readonly string[],
  stdin: CommandIo['stdin'],
): Promise<readonly ManifestText[]> {
  const texts: ManifestText[] = []
  const visited = new Set<string>()
  for (const path of paths) {
    if (path === '-') texts.push({ name: 'standard input', text: await text(stdin) })
    else
      for (const file of await filesOf(path)) {
        // A pipe, such as `-f <(kustomize build)`, has no real path.
        const identity = await realpath(file).catch(() => file)
        if (visited.has(identity)) continue
        visited.add(identity)
        texts.push({ name: file, text: await attempt(file, readFile(file, 'utf8')) })
      }
  }
  return texts
}

async function filesOf(path: string): Promise<readonly string[]> {
  const found = await attempt(path, stat(path))
  return found.isDirectory() ? (await filesBelow(path)).toSorted() : [path]
}

/**
 * Lists files recursively. It follows links to files, but not to directories, which may form a
 * cycle. It skips directories such as `..2026_01_31`, to whose files a mounted ConfigMap links.
 */
async function filesBelow(directory: string): Promise<readonly string[]> {
  const files: string[] = []
  for (const entry of await attempt(directory, readdir(directory, { withFileTypes: true }))) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) {
      if (!entry.name.startsWith('..')) files.push(...(await filesBelow(path)))
    } else if (/\.(?:ya?ml|json)$/.test(entry.name) && (await attempt(path, stat(path))).isFile())
      files.push(path)
  }
  return files
}

async function attempt<T>(path: string, read: Promise<T>): Promise<T> {
  try {
    return await read
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new UnreadableFileError(`${path}: ${why}`, { cause })
  }
}
