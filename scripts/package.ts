// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// node scripts/package.ts [URL]   after a build: dist/rpc-router-VERSION.tgz, for users with Node.
// A package with provenance names the URL of its repository.

const root = join(import.meta.dirname, '..')
const cwd = join(root, 'dist/package')
const programs = ['router', 'rpc-operator', 'kubectl-rpc']

rmSync(cwd, { recursive: true, force: true })
for (const part of ['README.md', 'LICENSE', 'NOTICE', 'dist/bin', 'dist/specs', 'examples'])
  cpSync(join(root, part), join(cwd, part), { recursive: true })
for (const program of programs) {
  cpSync(join(root, `bin/${program}.mjs`), join(cwd, `bin/${program}.mjs`))
  cpSync(join(root, 'scripts/start-installed.sh'), join(cwd, 'bin', program))
}
const { name, version, description, keywords, license, type, engines, optionalDependencies } =
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>
// npx takes the program with the name of the package.
const bin = {
  ...Object.fromEntries(programs.map((program) => [program, `bin/${program}`])),
  'rpc-router': 'bin/router',
}
const url = process.argv[2]
const repository = url ? { type: 'git', url: `git+${url}.git` } : undefined
const about = {
  ...{ name, version, description, keywords, license, repository, type, engines, bin },
  optionalDependencies,
}
writeFileSync(join(cwd, 'package.json'), `${JSON.stringify(about, null, 2)}\n`)
execFileSync('npm', ['pack', '--silent', '--pack-destination', '..'], { cwd, stdio: 'inherit' })
