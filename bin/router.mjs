#!/bin/sh
':' //; MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-131072}" PATH="${0%/*}/../node_modules/.bin:$PATH" exec node --max-semi-space-size=16 -- "$0" "$@"
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
//
// The shell reads the second line alone: it finds the Node that npm installed, and the "--" keeps our --env-file from
// Node, which has an option of that name. To JavaScript the line is a text and a comment. One arena of the C library for
// all threads instead of eight for each core: 4 MB less of idle memory, and no more CPU; see bench/README.md. What is longer than
// 128 KiB goes back to the system when it is freed: 320 MB instead of 540 behind clients that ask for long answers and do not read. 16 MiB
// of young objects, not 32: 50 MB less behind such clients.
//
// Runs the bundle where it is up to date, else the sources as they are.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// A service file may call another Node by mistake.
const major = Number(process.versions.node.split('.')[0])
if (major < 26) {
  process.stderr.write(
    `router: Node ${process.version} is too old. ` +
      (existsSync(new URL('../proxy/', import.meta.url))
        ? 'Start bin/router.mjs itself, which finds the Node 26 that npm installed, or node_modules/.bin/node -- bin/router.mjs ...\n'
        : 'npm could not download the Node 26 that this package needs, and skipped it. Install the package again where npm reaches its registry, or put Node 26 first in PATH.\n'),
  )
  process.exit(2)
}

const bundle = new URL('../dist/bin/router.mjs', import.meta.url)
const sources = new URL('../proxy/', import.meta.url)
const specs = new URL('../specs/', import.meta.url)

function isFresh() {
  if (!existsSync(bundle)) return false
  if (!existsSync(sources)) return true
  const builtMs = statSync(bundle).mtimeMs
  return [sources, specs].every((folder) => {
    const directory = fileURLToPath(folder)
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).every(
      (name) => !/\.(?:ts|yml)$/.test(name) || statSync(`${directory}/${name}`).mtimeMs <= builtMs,
    )
  })
}

await import(isFresh() ? bundle.href : new URL('main.ts', sources).href)
