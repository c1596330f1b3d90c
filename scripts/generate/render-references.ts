// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { format, resolveConfig } from 'prettier'

/** A generated file: its path from the project's root and its whole text. */
export interface GeneratedFile {
  readonly path: string
  readonly text: string
}

interface ReferenceModule {
  readonly render?: () => string | Promise<string>
}

/**
 * Renders `docs/reference/NAME.md` from each `NAME.ts` of a folder. Such a module exports
 * `render()`, which gives the page in markdown; it is put into prettier's form here.
 * @throws Error naming a module without `render`
 */
export async function renderReferences(folder: string): Promise<readonly GeneratedFile[]> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .toSorted()
  return await Promise.all(files.map((file) => renderPage(join(folder, file))))
}

async function renderPage(file: string): Promise<GeneratedFile> {
  const { render } = (await import(pathToFileURL(file).href)) as ReferenceModule
  if (!render) throw new Error(`${file} must export render(): string | Promise<string>`)
  const name = basename(file, '.ts')
  const options = await resolveConfig(file)
  const text = await format(await render(), { ...options, parser: 'markdown' })
  return { path: `docs/reference/${name}.md`, text }
}
