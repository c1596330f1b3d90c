// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawnSync } from 'node:child_process'

/** Minimum version for the newest module. */
const minGo = { major: 1, minor: 25 }
const goHelp = 'Get it from https://go.dev/dl (Debian: apt install golang; macOS: brew install go).'
const compilerHelp = 'Get one (Debian: apt install gcc libc6-dev; macOS: xcode-select --install).'

/** A sentence per missing build tool, with the package to install. */
export function lackingTools(environment: Readonly<NodeJS.ProcessEnv>): string[] {
  const lacking: string[] = []
  const version = firstLine('go', ['env', 'GOVERSION'])
  if (version === null)
    lacking.push(`Go is not installed: the nodes are built from Go modules. ${goHelp}`)
  else if (!isRecent(version))
    lacking.push(`Go ${version} is too old; ${minGo.major}.${minGo.minor} is the least. ${goHelp}`)
  const compiler = environment['CC'] ?? 'cc'
  if (firstLine(compiler, ['--version']) === null)
    lacking.push(`There is no C compiler (${compiler}), which wasmd needs. ${compilerHelp}`)
  return lacking
}

/** Reports whether a Go version such as `go1.26.8` can build the modules. */
export function isRecent(version: string): boolean {
  const [, major, minor] = /^go(\d+)\.(\d+)/.exec(version) ?? []
  // A development version such as `devel go1.27-abc` is newer than any release.
  if (major === undefined) return version.startsWith('devel')
  return Number(major) > minGo.major || Number(minor) >= minGo.minor
}

function firstLine(command: string, args: readonly string[]): string | null {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? (stdout.split('\n', 1)[0] ?? '') : null
}
