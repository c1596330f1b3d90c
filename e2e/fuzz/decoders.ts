// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { lackingTools } from '../nodes/build/toolchain.ts'

/** A request as a node decodes it. Objects in the params have only their known members. */
export interface Reading {
  readonly id: unknown
  readonly method: string
  readonly params: readonly unknown[]
}

/** Reads a request or a batch. An unreadable item is null. */
export type Decoder = (text: string) => Promise<readonly (Reading | null)[]>

/** Known members of params objects, as in `decoder/main.go`. */
const known = ['to', 'data', 'address', 'blockNumber', 'blockHash', 'fromBlock', 'toBlock']

/** A decoder that takes the first or the last duplicate member, with or without regard to case. */
export function decoderTaking(which: 'first' | 'last', ignoresCase = false): Decoder {
  const fold = (name: string) => name.toUpperCase().toLowerCase()
  const isSame = (a: string, b: string) => a === b || (ignoresCase && fold(a) === fold(b))
  const member = (value: object, name: string): unknown => {
    const all = Object.entries(value).filter(([each]) => isSame(each.replace(/^\d+ /, ''), name))
    return all.at(which === 'first' ? 0 : -1)?.[1] ?? null
  }
  const paramOf = (value: unknown) => {
    if (!isObject(value)) return value
    const members = known.flatMap((name) => {
      const text = member(value, name)
      return text === null || text === '' ? [] : [[name, text] as const]
    })
    if (members.some(([, text]) => typeof text !== 'string')) throw new TypeError('no text')
    return Object.fromEntries(members)
  }
  const read = (item: unknown): Reading | null => {
    if (!isObject(item)) return null
    const [id, method, params] = ['id', 'method', 'params'].map((name) => member(item, name))
    if (typeof method !== 'string' || !(params === null || Array.isArray(params))) return null
    try {
      return { id, method, params: (params ?? []).map(paramOf) }
    } catch {
      return null
    }
  }
  return (text) => {
    const document = parsed(text)
    return Promise.resolve((Array.isArray(document) ? document : [document]).map(read))
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses JSON with numbered names, so that duplicate members are retained. */
function parsed(text: string): unknown {
  let names = 0
  const numbered = text.replaceAll(
    /"((?:[^"\\]|\\.)*)"(\s*:)?/g,
    (all, name: string, colon?: string) => (colon === undefined ? all : `"${names++} ${name}":`),
  )
  return JSON.parse(numbered)
}

/** Go's `encoding/json`. */
export interface GoDecoder extends AsyncDisposable {
  readonly decode: Decoder
}

/** Builds and starts `decoder/`. @throws Error naming the tool to install */
export async function startGoDecoder(): Promise<GoDecoder> {
  const [lacking] = lackingTools(process.env)
  if (lacking?.startsWith('Go')) throw new Error(lacking)
  const directory = await mkdtemp(join(tmpdir(), 'rpc-router-decoder-'))
  const program = join(directory, 'decoder')
  const cwd = fileURLToPath(new URL('decoder', import.meta.url))
  await promisify(execFile)('go', ['build', '-buildvcs=false', '-o', program, '.'], { cwd })
  const child = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line))
  return {
    decode: async (text) => {
      child.stdin.write(`${Buffer.from(text).toString('base64')}\n`)
      const line = await new Promise<string>((resolve) => waiting.push(resolve))
      return JSON.parse(line) as (Reading | null)[]
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.stdin.end()
      await ended
      await rm(directory, { recursive: true })
    },
  }
}
