// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { posix } from 'node:path'

/** The files and folders that links may lead to, by their paths from the root of the project. */
export interface Tree {
  readonly files: ReadonlySet<string>
  readonly folders: ReadonlySet<string>
}

export function treeOf(paths: readonly string[]): Tree {
  const parents = (path: string): string[] => {
    const parent = posix.dirname(path)
    return parent === '.' ? ['.'] : [parent, ...parents(parent)]
  }
  return { files: new Set(paths), folders: new Set(paths.flatMap(parents)) }
}

/** The path of a page on the site: the README of a folder is its index. */
export function pagePath(path: string): string {
  return path.replace(/(^|\/)README\.md$/, '$1index.md')
}

/**
 * The target of a page's link on the site: another page, or a file in the repository.
 * @param repository URL of the repository, if it is known
 * @returns null for a file of a repository that is not known
 * @throws Error for a link to nothing
 */
export function siteLink(
  page: string,
  href: string,
  tree: Tree,
  repository: string | undefined,
): string | null {
  if (/^(?:[a-z]+:|#)/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const target = posix.join(posix.dirname(page), path).replace(/\/$/, '')
  const readme = posix.join(target, 'README.md')
  const to = tree.folders.has(target) && tree.files.has(readme) ? readme : target
  if (to.endsWith('.md') && tree.files.has(to)) {
    const relative = posix.relative(posix.dirname(page), pagePath(to))
    return anchor === undefined ? relative : `${relative}#${anchor}`
  }
  const kind = tree.files.has(to) ? 'blob' : 'tree'
  if (!tree.files.has(to) && !tree.folders.has(to))
    throw new Error(`${page} links to ${href}: there is no ${to}.`)
  return repository ? `${repository}/${kind}/HEAD/${to}` : null
}
