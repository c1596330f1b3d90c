// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureAssets } from './assets.ts'
import { ControlPlane } from './control-plane.ts'

/*
 * Runs one cluster for its parent process, and ends it when that process ends in any way, which
 * closes stdin. Prints one line with the access to the cluster. The optional argument is the limit
 * of requests per second for each controller.
 *
 * It is a separate process, since a killed test process cannot clean up.
 */

const startTries = 3

const left = new Promise<void>((resolve) => {
  process.stdin.resume()
  process.stdin.once('close', resolve)
  process.stdin.once('end', resolve)
})
// The parent handles Ctrl-C, and its end closes stdin.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => process.stdin.destroy())

const [, , perSecond] = process.argv
const pace = perSecond === undefined ? {} : { controllersPerSecond: Number(perSecond) }
const assets = await ensureAssets(process.env)
const folder = await mkdtemp(join(tmpdir(), 'rpc-router-kube-'))
let plane: ControlPlane | null = null
let isOver = false
const cleanUp = async () => {
  isOver = true
  await plane?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}
try {
  const outcome = await Promise.race([run(), left.then(() => 'left' as const)])
  if (outcome !== 'left') process.stderr.write(`${outcome}\n`)
  process.exitCode = outcome === 'left' ? 0 : 1
} finally {
  await cleanUp()
  process.exit()
}

/** Starts the cluster. Resolves with an error message when a part of it ends unexpectedly. */
async function run(): Promise<string> {
  for (let tries = 1; ; tries++) {
    plane = new ControlPlane({ assets, folder, ...pace })
    try {
      await plane.start()
      break
    } catch (error) {
      await plane.stop()
      // Another program may take a free port before this one listens.
      if (isOver || tries === startTries) throw error
      await rm(join(folder, 'etcd'), { recursive: true, force: true })
    }
  }
  process.stdout.write(`${folder}\n`)
  return `${await plane.ended} of the test cluster ended by itself`
}
