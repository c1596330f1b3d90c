// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { join, relative } from 'node:path'
import { anchorOf } from '../law/check-links.ts'
import { projectFiles, projectText } from '../law/project-files.ts'
import { sideBar } from './side-bar.ts'
import { pagePath, siteLink, treeOf } from './site-links.ts'

/** The part of a token of markdown-it that links need. */
interface Token {
  readonly type: string
  readonly children: Token[] | null
  attrGet(name: string): string | null
  attrSet(name: string, value: string): void
}

interface State {
  readonly tokens: readonly Token[]
  readonly env: { readonly path: string; readonly realPath?: string }
}

interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (state: State) => void): void } }
}

const root = join(import.meta.dirname, '../..')
const repository = process.env['SOURCE'] || undefined
const tree = treeOf(projectFiles())

/** Lets links lead to pages of the site, and to files in the repository. */
function leadLinks({ core }: Markdown): void {
  core.ruler.push('site-links', ({ tokens, env }) => {
    const page = relative(root, env.realPath ?? env.path)
    for (const { children } of tokens) {
      const plain: boolean[] = []
      for (const token of children ?? []) {
        if (token.type === 'link_close' && plain.pop()) hide(token)
        if (token.type !== 'link_open') continue
        const target = siteLink(page, token.attrGet('href') ?? '', tree, repository)
        plain.push(target === null)
        if (target === null) hide(token)
        else token.attrSet('href', target)
      }
    }
  })
}

function hide(token: Token): void {
  Object.assign(token, { type: 'text', tag: '', content: '' })
}

/** Leaves Vue to the renderer, because the folders of pages have no packages. */
const vueOfRenderer = {
  name: 'vue-of-renderer',
  enforce: 'pre',
  resolveId(id: string, _importer: unknown, { ssr }: { readonly ssr?: boolean }) {
    return ssr && /^vue(?:\/|$)/.test(id) ? { id, external: true } : null
  },
}

/** The settings of VitePress. */
export const siteConfig = {
  title: 'rpc-router',
  description: 'One URL per chain in front of all your blockchain node providers.',
  lang: 'en',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  base: process.env['DOCS_BASE'] || '/',
  srcDir: root,
  outDir: join(root, 'dist/docs'),
  cacheDir: join(import.meta.dirname, 'node_modules/.vitepress'),
  rewrites: pagePath,
  markdown: {
    anchor: { slugify: anchorOf },
    config: leadLinks,
    // Shown without colours.
    languages: [{ name: 'promql', scopeName: 'source.promql', patterns: [], repository: {} }],
  },
  vite: {
    build: { target: 'es2022', chunkSizeWarningLimit: 1_000 },
    plugins: [vueOfRenderer],
  },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sideBar(projectText('docs/README.md'), tree),
    nav: [
      { text: 'Documentation', link: '/docs/' },
      { text: 'Examples', link: '/examples/' },
      { text: 'Changelog', link: '/CHANGELOG' },
    ],
    outline: [2, 3],
    ...(repository && { socialLinks: [{ icon: 'git', link: repository }] }),
  },
}
