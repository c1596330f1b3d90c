// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type ManifestSet, readManifests } from '../manifests/read-manifests.ts'
import { type RenderedManifests, renderManifests } from '../manifests/render-manifests.ts'
import { bundledChains } from '../translate/bundled-chains.generated.ts'
import { knownChains } from '../translate/known-chains.ts'
import type { CommandIo } from './command-io.ts'
import { type FlagValues, valueOf } from './command-line.ts'
import { imagesOf } from './images.ts'
import { readFiles, UnreadableFileError } from './read-files.ts'

/** Manifests with everything that is wrong with them, each in one line. */
export interface JudgedManifests {
  readonly set: ManifestSet | null
  readonly rendered: RenderedManifests
  readonly problems: readonly string[]
}

const nothing: RenderedManifests = { objects: [], problems: [] }

/** Reads and judges what -f names, the same for `render` and for `validate`. */
export async function judgeManifests(
  values: FlagValues,
  version: string,
  stdin: CommandIo['stdin'],
): Promise<JudgedManifests> {
  if (values.filename.length === 0)
    return { set: null, rendered: nothing, problems: ['Name files with -f.'] }
  try {
    const texts = await readFiles(values.filename, stdin)
    const set = readManifests(texts, valueOf(values, 'namespace') ?? 'default')
    const ofFiles = set.problems
    const build = {
      images: imagesOf(values, version),
      monitors: new Set(['PodMonitor', 'ServiceMonitor']),
    }
    const rendered = renderManifests(set, knownChains(bundledChains), build)
    const isEmpty = set.routers.length + set.providers.length === 0 && ofFiles.length === 0
    const empty = isEmpty ? ['There is no RpcRouter and no UpstreamProvider in the files.'] : []
    return { set, rendered, problems: [...ofFiles, ...rendered.problems, ...empty] }
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error
    return { set: null, rendered: nothing, problems: [error.message] }
  }
}
