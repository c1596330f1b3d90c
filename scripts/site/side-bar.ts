// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { siteLink, type Tree } from './site-links.ts'

export interface SideBarGroup {
  readonly text: string
  readonly items: readonly { readonly text: string; readonly link: string }[]
}

/** The sidebar, from the headings and links of the index page `docs/README.md`. */
export function sideBar(index: string, tree: Tree): SideBarGroup[] {
  const [, ...sections] = index.split(/^## /m)
  return sections.map((section) => {
    const [text = ''] = section.split('\n', 1)
    const links = [...section.matchAll(/\[(?<text>[^\]]+)\]\((?<href>[^()\s]+)\)/g)]
    const items = links.flatMap(({ groups = {} }) => {
      const link = siteLink('docs/README.md', groups['href'] ?? '', tree, undefined)
      return link === null ? [] : [{ text: capitalized(groups['text'] ?? ''), link: atRoot(link) }]
    })
    return { text, items }
  })
}

/** A link from `docs/`, as one from the root of the site. */
function atRoot(link: string): string {
  return new URL(link, 'file:///docs/').pathname
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
