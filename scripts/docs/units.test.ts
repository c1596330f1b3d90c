// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

const unit = 'examples/systemd/rpc-router.service'
const analyze = (...args: readonly string[]) =>
  spawnSync('systemd-analyze', [...args, unit], { encoding: 'utf8' })

test.skipIf(spawnSync('systemd-analyze', ['--version']).status !== 0)(
  'systemd finds no mistake in the unit, and little that it leaves exposed',
  () => {
    const { status, stderr } = analyze('verify', '--man=no')
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    // The exposure in tenths, of 100.
    expect(analyze('security', '--offline=true', '--threshold=20').status).toBe(0)
  },
)
