#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
//
// Runs the bundle where it is up to date, else the sources as they are.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

// A service file may call another Node by mistake than the one that npm puts first in PATH.
const major = Number(process.versions.node.split('.')[0])
if (major < 26) {
  process.stderr.write(
    `rpc-operator: Node ${process.version} is too old. Start it with the Node 26 that npm installed: ` +
      'node_modules/.bin/node bin/rpc-operator.mjs ..., or put Node 26 first in PATH\n',
  )
  process.exit(2)
}

const bundle = new URL('../dist/bin/rpc-operator.mjs', import.meta.url)
const main = new URL('../operator/main.ts', import.meta.url)
const sources = ['../operator/', '../proxy/config/'].map((path) => new URL(path, import.meta.url))

function isFresh() {
  if (!existsSync(bundle)) return false
  if (!existsSync(main)) return true
  const builtMs = statSync(bundle).mtimeMs
  return sources.every((source) => {
    const directory = fileURLToPath(source)
    return readdirSync(directory, { recursive: true, encoding: 'utf8' }).every(
      (name) => !name.endsWith('.ts') || statSync(`${directory}/${name}`).mtimeMs <= builtMs,
    )
  })
}

await import(isFresh() ? bundle.href : main.href)
