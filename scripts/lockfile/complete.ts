// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** The used fields of an entry of `packages` in package-lock.json. */
export interface LockedPackage {
  readonly version?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly license?: string
  readonly dev?: boolean
  readonly optional?: boolean
  readonly os?: readonly string[]
  readonly cpu?: readonly string[]
  readonly libc?: readonly string[]
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export type LockedPackages = Readonly<Record<string, LockedPackage>>

/** Lockfiles of the project. The second is for a suite of `make test-nodes`. */
export const lockfiles = [
  'package-lock.json',
  'e2e/nodes/hardhat-project/package-lock.json',
  'scripts/site/package-lock.json',
]

/**
 * Platform builds that the lockfile lacks, by path in `node_modules`. npm omits builds that it
 * could not resolve when it wrote the lockfile, and `npm ci` of npm 11 then refuses the lockfile.
 */
export function missingPlatformPackages(packages: LockedPackages): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {}
  for (const { optionalDependencies, dev } of Object.values(packages))
    for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
      const place = `node_modules/${name}`
      const platform = platformOf(name)
      if (packages[place] || !platform) continue
      missing[place] = { version, ...(dev && { dev }), optional: true, ...platform }
    }
  return missing
}

const systems = 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ')
const processors: Readonly<Record<string, string>> = {
  amd64: 'x64',
  arm: 'arm',
  arm64: 'arm64',
  ia32: 'ia32',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  x64: 'x64',
}

/** Parses the platform of a package such as `@a/b-linux-x64-musl`; null without one. */
function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> | null {
  const words = name.split(/[/-]/)
  const system = words.find((word) => systems.includes(word))
  const processor = words.find((word) => Object.hasOwn(processors, word))
  const cpu = processor === undefined ? undefined : processors[processor]
  if (system === undefined || cpu === undefined) return null
  const libc = words.includes('musl') ? 'musl' : words.includes('gnu') ? 'glibc' : null
  return { os: [system], cpu: [cpu], ...(libc === null ? {} : { libc: [libc] }) }
}
