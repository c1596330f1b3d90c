// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type Argument, type Node, parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import { projectFiles, projectText } from '../law/project-files.ts'

/** Fields of parameters that are spread into a line, which the scan cannot follow. */
const parameters: Readonly<Record<string, readonly string[]>> = {
  labels: ['chain', 'interface'],
  // Of the recording, whose other lines have an error at most.
  fields: ['error'],
  // Of a line that reports suppressed ones.
  more: ['now'],
  shortage: ['resource', 'why'],
}
const levels = ['debug', 'info', 'warn', 'error']

interface Line {
  readonly message: string
  readonly fields: readonly string[]
}

const sources = projectFiles()
  .filter((path) => /^proxy\/.*\.ts$/.test(path) && !/\.(?:test|fixture)\.ts$/.test(path))
  .map((path) => [path, projectText(path)] as const)
  .filter(([, text]) => /logger|clientFields/.test(text))

/** The objects that functions of all these files return, by the name of the function. */
const returned = new Map<string, Node[]>()
const programs = sources.map(([path, text]) => {
  const { program } = parseSync(path, text)
  new Visitor({
    FunctionDeclaration(node) {
      if (!node.id || !node.body) return
      for (const each of node.body.body)
        if (each.type === 'ReturnStatement' && each.argument)
          returned.set(node.id.name, [...(returned.get(node.id.name) ?? []), each.argument])
    },
  }).visit(program)
  return { path, text, program }
})

/** Every line that the router may log. Texts between fixed words are dots. */
function linesOf({ path, text, program }: (typeof programs)[number]): readonly Line[] {
  const constants: { name: string; init: Node; at: number }[] = []
  const calls: { args: readonly Argument[]; at: number }[] = []
  new Visitor({
    VariableDeclarator(node) {
      if (node.id.type === 'Identifier' && node.init)
        constants.push({ name: node.id.name, init: node.init, at: node.start })
    },
    CallExpression(node) {
      const callee = text.slice(node.callee.start, node.callee.end)
      const isLine = new RegExp(`\\blogger(?:\\.(?:${levels.join('|')})|\\[.*\\])$`).test(callee)
      if (isLine && node.arguments.length > 0) calls.push({ args: node.arguments, at: node.start })
    },
  }).visit(program)

  const messagesOf = (node: Node): readonly string[] => {
    if (node.type === 'Literal') return [String(node.value)]
    if (node.type === 'TemplateLiteral')
      return [node.quasis.map(({ value }) => value.cooked).join('...')]
    if (node.type === 'Identifier')
      return constants
        .filter(({ name }) => name === node.name)
        .flatMap(({ init }) => messagesOf(init))
    return []
  }
  const fieldsOf = (node: Node, at: number): readonly string[] => {
    if (node.type === 'ObjectExpression')
      return node.properties.flatMap((each) => {
        if (each.type === 'SpreadElement') return fieldsOf(each.argument, at)
        return each.key.type === 'Identifier' ? [each.key.name] : []
      })
    if (node.type === 'LogicalExpression') return fieldsOf(node.right, at)
    if (node.type === 'ChainExpression') return fieldsOf(node.expression, at)
    if (node.type === 'CallExpression' && node.callee.type === 'Identifier') {
      const { name } = node.callee
      return parameters[name] ?? (returned.get(name) ?? []).flatMap((each) => fieldsOf(each, at))
    }
    if (node.type === 'Identifier') {
      const { init } = constants.findLast((each) => each.name === node.name && each.at < at) ?? {}
      const own = init ? fieldsOf(init, at) : parameters[node.name]
      if (own) return own
    }
    throw new Error(`${path}: ${text.slice(node.start, node.end)} is unknown here: add its fields`)
  }
  return calls.flatMap(({ args: [message, fields], at }) =>
    messagesOf(message!).map((each) => {
      return { message: each, fields: fields ? fieldsOf(fields, at) : [] }
    }),
  )
}

test('logs.md has every line that the router logs, with its fields, and no other', () => {
  const logged = new Map<string, Set<string>>()
  for (const { message, fields } of programs.flatMap(linesOf)) {
    const known = logged.get(message) ?? new Set<string>()
    for (const field of fields) known.add(field)
    logged.set(message, known)
  }
  const rows = projectText('docs/reference/logs.md').matchAll(
    /^\| `([^`]+)` +\|[^|\n]*\|([^|\n]*)\|/gm,
  )
  const documented = new Map(
    [...rows].map(([, message, fields]) => {
      return [message!, new Set([...fields!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!))]
    }),
  )
  expect(documented).toEqual(logged)
})
