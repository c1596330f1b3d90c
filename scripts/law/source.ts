// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type MemberExpression, type Expression, parseSync, Visitor } from 'oxc-parser'

/** An imported module. */
export interface Import {
  readonly specifier: string
  readonly line: number
  /** True for `import type`, which does not exist at run time. */
  readonly isTypeOnly: boolean
}

/** The facts about one file that the law needs. Lines are 1-based. */
export interface Source {
  /** Path from the project's root, with `/`. */
  readonly path: string
  readonly lineCount: number
  readonly text: string
  /** Every imported module: imports, type imports, re-exports, `import()`. */
  readonly imports: readonly Import[]
  readonly defaultExportLine: number | null
  /** Dotted names in code (`Date.now`, `process.env`), without comments and strings. */
  readonly uses: readonly { readonly name: string; readonly line: number }[]
}

/** Parses a TypeScript file. @throws Error on a syntax error */
export function parseSource(path: string, text: string): Source {
  const { program, errors } = parseSync(path, text)
  const [error] = errors
  if (error) throw new Error(`${path}: ${error.message}`)

  const lineAt = (offset: number) => text.slice(0, offset).split('\n').length
  const imports: Import[] = []
  const uses: { name: string; line: number }[] = []
  let defaultExportLine: number | null = null
  const request = (source: { value: unknown; start: number }, isTypeOnly = false) => {
    if (typeof source.value === 'string')
      imports.push({ specifier: source.value, line: lineAt(source.start), isTypeOnly })
  }
  new Visitor({
    ImportDeclaration: (node) => request(node.source, node.importKind === 'type'),
    ExportNamedDeclaration: (node) => node.source && request(node.source),
    ExportAllDeclaration: (node) => request(node.source),
    ImportExpression: (node) => node.source.type === 'Literal' && request(node.source),
    ExportDefaultDeclaration(node) {
      defaultExportLine = lineAt(node.start)
    },
    ExportSpecifier(node) {
      const { exported } = node
      if (exported.type === 'Identifier' && exported.name === 'default')
        defaultExportLine = lineAt(node.start)
    },
    TSImportType: (node) => request(node.source),
    Identifier: (node) => uses.push({ name: node.name, line: lineAt(node.start) }),
    NewExpression(node) {
      if (node.callee.type === 'Identifier' && node.arguments.length === 0)
        uses.push({ name: `new ${node.callee.name}()`, line: lineAt(node.start) })
    },
    MemberExpression(node) {
      const owner = lastName(node.object)
      const member = memberName(node)
      if (owner !== null && member !== null)
        uses.push({ name: `${owner}.${member}`, line: lineAt(node.start) })
    },
  }).visit(program)

  return {
    path,
    text,
    lineCount: text.split('\n').length - (text.endsWith('\n') ? 1 : 0),
    imports,
    defaultExportLine,
    uses,
  }
}

function lastName(node: Expression | { readonly type: 'Super' }): string | null {
  if (node.type === 'Identifier') return node.name
  return node.type === 'MemberExpression' ? memberName(node) : null
}

function memberName({ computed, property }: MemberExpression): string | null {
  if (!computed) return property.type === 'Identifier' ? property.name : null
  return property.type === 'Literal' && typeof property.value === 'string' ? property.value : null
}
