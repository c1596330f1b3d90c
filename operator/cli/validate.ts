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

/** Manifests with everything that is wrong with them, each in one line. */
interface ValidatedManifests {
  readonly objects: readonly KubeObject[]
  readonly routers: number
  readonly providers: number
  readonly problems: readonly string[]
  /** What is valid, but its owner may not expect. */
  readonly warnings: readonly string[]
}

/** Reads and judges what -f names. */
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
 * Prints what the operator would apply for the manifests, and on stderr what keeps it from more.
 * @returns the exit code: 2 when there is anything wrong
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

/** Names the checks that a file alone does not allow. */
const more =
  'The API server also checks rules between fields, immutable fields and policies: kubectl apply --dry-run=server -f FILES'

/**
 * Judges manifests: as text on stderr, with a line of success on stdout, or as one JSON document on
 * stdout.
 * @returns the exit code: 0, also with warnings, or 2 when there is an error
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

/** A file that cannot be read, with a message of one sentence. */
export class UnreadableFileError extends Error {}

/**
 * Reads what -f names: files, directories with those below them (.yaml, .yml, .json), `-` for
 * standard input. No file is read twice, by whatever names it is reached.
 * @throws UnreadableFileError
 */
export async function readFiles(
  paths: readonly string[],
  stdin: CommandIo['stdin'],
): Promise<readonly ManifestText[]> {
  const texts: ManifestText[] = []
  const seen = new Set<string>()
  for (const path of paths) {
    if (path === '-') texts.push({ name: 'standard input', text: await text(stdin) })
    else
      for (const file of await filesOf(path)) {
        // A pipe, such as that of `-f <(kustomize build)`, has no path but the one that it was
        // given by.
        const identity = await realpath(file).catch(() => file)
        if (seen.has(identity)) continue
        seen.add(identity)
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
 * Links to files count, links to directories do not: they may lead back. Nor do directories such as
 * `..2026_01_31`, which hold the files of a mounted ConfigMap that links beside them lead to.
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
