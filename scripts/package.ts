// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Writes dist/rpc-router-VERSION.tgz: `npm install -g` of it gives `router` and `rpc-operator`. The programs are bundled, so the
 * package depends on nothing but Node itself. Run by `make package`, after the build.
 */

const root = join(import.meta.dirname, '..')
const folder = join(root, 'dist/package')
const programs = ['router', 'rpc-operator']

/** Finds the Node that npm installed beside or inside the package, whatever links lead here. */
const starter = (program: string) => `#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
self=$(readlink -f -- "$0")
package=\${self%/*/*}
export MALLOC_ARENA_MAX="\${MALLOC_ARENA_MAX:-1}" MALLOC_MMAP_THRESHOLD_="\${MALLOC_MMAP_THRESHOLD_:-131072}"
PATH="$package/node_modules/.bin:$package/../.bin:$PATH" exec node -- "$package/bin/${program}.mjs" "$@"
`

rmSync(folder, { recursive: true, force: true })
const parts = ['README.md', 'LICENSE', 'NOTICE', 'dist/bin', 'dist/specs', 'examples']
for (const part of [...parts, ...programs.map((program) => `bin/${program}.mjs`)])
  cpSync(join(root, part), join(folder, part), { recursive: true })
mkdirSync(join(folder, 'bin'), { recursive: true })
for (const program of programs) {
  writeFileSync(join(folder, 'bin', program), starter(program))
  chmodSync(join(folder, 'bin', program), 0o755)
}
const { name, version, description, license, type, engines, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as Record<string, unknown>
const bin = Object.fromEntries(programs.map((program) => [program, `bin/${program}`]))
const about = { name, version, description, license, type, engines, bin, optionalDependencies }
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', '..'], {
  cwd: folder,
  stdio: 'inherit',
})
