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
  readonly renderMore?: () => Promise<ReadonlyMap<string, string>>
}

/**
 * Renders `docs/reference/NAME.md` from each `NAME.ts` of a folder, and formats it with prettier.
 * Such a module exports `render()`, which returns the page in Markdown. `renderMore()` returns
 * further pages by name below `docs/reference`, such as `chains/btc`.
 * @throws Error naming a module without `render`
 */
export async function renderReferences(folder: string): Promise<readonly GeneratedFile[]> {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .toSorted()
  const pages = await Promise.all(files.map((file) => renderPages(join(folder, file))))
  return pages.flat()
}

async function renderPages(file: string): Promise<readonly GeneratedFile[]> {
  const { render, renderMore } = (await import(pathToFileURL(file).href)) as ReferenceModule
  if (!render) throw new Error(`${file} must export render(): string | Promise<string>`)
  const options = await resolveConfig(file)
  const page = async (name: string, text: string): Promise<GeneratedFile> => ({
    path: `docs/reference/${name}.md`,
    text: await format(text, { ...options, parser: 'markdown' }),
  })
  const more = (await renderMore?.()) ?? new Map<string, string>()
  return Promise.all([
    page(basename(file, '.ts'), await render()),
    ...[...more].map(([name, text]) => page(name, text)),
  ])
}
