// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { SpecError } from '../chain/document.ts'
import { loadCatalog } from '../chain/load-catalog.ts'
import type { ChainCatalog } from '../chain/types.ts'
import { type ParsedConfig, parseConfig, sourcesOf } from '../config/parse.ts'
import { type Problem, problemAt, whyUnreadable } from '../config/problem.ts'
import { knownChains, type ValidatedConfig, validateConfig } from '../validation/validate-config.ts'
import { createRedactor } from '../upstream/secrets/mask.ts'
import { hash } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type EnvFile, layerEnvironment } from '../config/env-file.ts'
import type { FlagValues } from '../config/settings.ts'

/** A config file and its dependencies as they were read. */
export interface LoadedConfig extends LoadedSpecs {
  readonly parsed: ParsedConfig
  /** Hexadecimal hash of the file's text; if the file is unreadable, of an empty text. */
  readonly sha256: string
  /** The file and the files that it names. */
  readonly files: readonly string[]
  /** The texts that were read, for workers; null if one is unreadable. */
  readonly snapshot: ConfigSnapshot | null
}

/** The chain specs of a config; null with the reasons if they are unusable. */
interface LoadedSpecs {
  readonly catalog: ChainCatalog | null
  readonly ofSpecs: readonly Problem[]
}

/** A config with all of its problems. */
export interface CheckedConfig extends ValidatedConfig, LoadedConfig {
  /** Removes from a text every value that must not be printed. */
  readonly redact: (text: string) => string
}

/**
 * Reads a config with everything that it refers to, and validates it.
 * @param running chain specs of the running router, which it reads only at start
 */
export async function checkConfig(
  request: ConfigRequest,
  running: ChainCatalog | null = null,
): Promise<CheckedConfig> {
  const loaded = await loadConfig(request, running)
  const checked = { ...loaded, ...validateLoaded(loaded) }
  const { flagOf } = request
  if (!flagOf) return checked
  const inFlags = checked.problems.map((problem) => {
    return { ...problem, path: flagOf(problem.path), line: null, column: null }
  })
  return { ...checked, problems: inFlags }
}

/** Validates a config with the files of this machine. */
export function validateLoaded({
  parsed,
  catalog,
  ofSpecs,
}: Pick<LoadedConfig, 'parsed' | keyof LoadedSpecs>): Omit<CheckedConfig, keyof LoadedConfig> {
  const readText = (path: string) => readFileSync(path, 'utf8')
  const validated = validateConfig(parsed, { catalog, readText }, ofSpecs)
  return { ...validated, redact: createRedactor(parsed.hidden()) }
}

/** Loads the chain specs, unless a router is running with them. */
export async function loadSpecs(
  sources: readonly string[],
  running: ChainCatalog | null = null,
): Promise<LoadedSpecs> {
  try {
    return { catalog: running ?? (await loadCatalog(sources)), ofSpecs: [] }
  } catch (error) {
    if (!(error instanceof SpecError)) throw error
    return { catalog: null, ofSpecs: error.problems }
  }
}

/**
 * Formats a problem in one line: `file:line:column: error: path: message. hint`. A problem of a
 * flag or a variable has no file: `router: error: --flag: message. hint`.
 */
export function problemLine(file: string, problem: Problem): string {
  const { severity, path, line, column, message, hint } = problem
  const origin = /^(?:-|SR_)/.test(path) ? 'router' : file
  const place = line === null ? origin : `${file}:${line}:${column ?? 1}`
  const about = path === '' ? '' : `${path}: `
  const remedy = hint === null ? '' : ` ${sentence(hint)}`
  return `${place}: ${severity}: ${about}${sentence(message)}${remedy}`
}

function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** Exit codes of the process. */
export const exitCodes = {
  /** Success. If the router was stopped, it answered every call in flight. */
  done: 0,
  /** The work failed: an address is in use, or calls were cut off at the end. */
  failed: 1,
  /** The command line or the config is invalid. */
  invalid: 2,
} as const

/** Maximum size of a config or env file. */
export const mostFileBytes = 1024 * 1024

/** A file's text, or why it could not be read. */
export type FileText = { readonly text: string } | { readonly problem: Problem }

/** The texts of a config file and its env files. They contain secrets. */
export interface ConfigSnapshot {
  readonly text: string
  readonly envFiles: readonly EnvFile[]
}

/** A config file and its dependencies. */
export interface ConfigRequest {
  readonly configPath: string
  /** The config itself; `configPath` then only names it in messages. Absent: the file is read. */
  readonly text?: string | undefined
  /** The flag that a path of such a text stands for; absent: problems show lines of the text. */
  readonly flagOf?: (path: string) => string
  readonly flags: FlagValues
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Texts to use instead of those in the files. */
  readonly snapshot?: ConfigSnapshot | null
}

const ofPath = 'Correct the path, or let router init write a config.'
const ofSize = 'If it is the right file, divide it: a second router can serve some of the chains.'
const ofEnvFile = 'Correct env-file, or write NAME=value lines into that file.'

/** Reads a config file with its env files and chain specs, and parses it. Never throws. */
export async function loadConfig(
  request: ConfigRequest,
  running: ChainCatalog | null = null,
): Promise<LoadedConfig> {
  const { configPath, text, flags, environment, snapshot = null } = request
  const given = text === undefined ? snapshot : { text }
  const file = given ?? (await readTextFile(configPath, 'the file', ofPath))
  const own = text === undefined ? [configPath] : []
  const sha256 = hash('sha256', 'text' in file ? file.text : '')
  if ('problem' in file) {
    const parsed = parseConfig([file.problem], request)
    const specs = await loadSpecs(parsed.specSources, running)
    return { parsed, sha256, files: own, snapshot: null, ...specs }
  }
  const { envFiles, paths, problems }: ReadEnvFiles = snapshot
    ? { envFiles: snapshot.envFiles, paths: [], problems: [] }
    : await readEnvFiles(sourcesOf(file.text, request).envFiles)
  const layered = layerEnvironment(environment, envFiles)
  const ofEnvFiles = problems.concat(layered.problems)
  // Without the env file, each of its variables would also be reported missing.
  const source = ofEnvFiles.length > 0 ? ofEnvFiles : file.text
  const inputs = { environment: layered.environment, flags }
  const { specSources } = sourcesOf(file.text, inputs)
  const specs = await loadSpecs(specSources, running)
  // With unusable specs, which are reported, any chain may exist.
  const parsed = parseConfig(source, { ...inputs, chains: knownChains(specs.catalog) })
  const files = [...own, ...paths, ...tlsFilesOf(parsed)]
  return { parsed, sha256, files, snapshot: { text: file.text, envFiles }, ...specs }
}

interface ReadEnvFiles {
  readonly envFiles: readonly EnvFile[]
  /** Their paths, and those of the directories that they are in. */
  readonly paths: readonly string[]
  readonly problems: readonly Problem[]
}

async function readEnvFiles(named: readonly string[]): Promise<ReadEnvFiles> {
  const envFiles: EnvFile[] = []
  const problems: Problem[] = []
  const paths: string[] = []
  for (const path of named) {
    const names = await namesIn(path)
    paths.push(path, ...(names ?? []).map((name) => join(path, name)))
    for (const name of names ?? [null]) {
      const at = name === null ? path : join(path, name)
      const envFile = await readTextFile(at, `the env file ${at}`, ofEnvFile)
      if ('text' in envFile) envFiles.push({ name: at, text: envFile.text, variable: name })
      else problems.push({ ...envFile.problem, path: 'env-file' })
    }
  }
  return { envFiles, paths, problems }
}

/** Files in a directory, without the `..` entries of a Secret mount; null if not a directory. */
async function namesIn(path: string): Promise<readonly string[] | null> {
  try {
    return (await readdir(path)).filter((name) => !name.startsWith('..')).toSorted()
  } catch {
    return null
  }
}

/** PEM files that upstreams refer to. */
function tlsFilesOf({ entries }: ParsedConfig): readonly string[] {
  const sections = entries.upstreams.flatMap(({ urls }) =>
    urls.map(({ entry }) => entry['auth-config']?.tls),
  )
  return sections
    .flatMap((tls) => [tls?.['ca-file'], tls?.['cert-file'], tls?.['key-file']])
    .filter((path) => path !== undefined)
}

/** Reads at most `mostFileBytes` of text. Never throws, and never waits for pipes or devices. */
export async function readTextFile(
  path: string,
  subject = 'the file',
  hint: string | null = null,
): Promise<FileText> {
  let file: FileHandle | null = null
  try {
    // Opening a pipe without O_NONBLOCK would wait for a writer.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    return await readOpenFile(file, subject)
  } catch (error) {
    return refuse(subject, whyUnreadable(error), hint)
  } finally {
    await file?.close()
  }
}

async function readOpenFile(file: FileHandle, subject: string): Promise<FileText> {
  const status = await file.stat()
  if (status.isDirectory()) return refuse(subject, 'it is a directory', 'Name a file.')
  if (!status.isFile())
    return refuse(subject, 'it is not a regular file', 'Write it to a file first.')
  if (status.size > mostFileBytes) return refuse(subject, 'it is larger than 1 MiB', ofSize)
  return decode(await file.readFile(), subject)
}

function decode(bytes: Uint8Array, subject: string): FileText {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) {
    return refuse(subject, 'it is UTF-16', 'Save it as UTF-8.')
  }
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    const before = new TextDecoder().decode(bytes).split('\uFFFD', 1)[0] ?? ''
    const line = before.split('\n').length
    return refuse(subject, `it is not valid UTF-8 (line ${line})`, 'Save it as UTF-8.')
  }
}

function refuse(subject: string, reason: string, hint: string | null): FileText {
  return { problem: problemAt('', null, `${subject} cannot be read: ${reason}`, hint) }
}
