// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockfiles, type LockedPackages, missingPlatformPackages } from './lockfile/complete.ts'

// node scripts/complete-lockfile.ts   after `npm install` changed a package-lock.json

for (const name of lockfiles) {
  const path = join(import.meta.dirname, '..', name)
  const lockfile = JSON.parse(readFileSync(path, 'utf8')) as { readonly packages: LockedPackages }
  const missing = missingPlatformPackages(lockfile.packages)
  const packages = Object.fromEntries(
    Object.entries({ ...lockfile.packages, ...missing }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  writeFileSync(path, `${JSON.stringify({ ...lockfile, packages }, null, 2)}\n`)
  console.log(`${name}: ${Object.keys(missing).length} builds for other platforms added`)
}
