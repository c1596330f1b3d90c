// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Random } from '../../clock/random.ts'

/** So many bytes by chance, the first of them never 0. */
export function drawBytes(random: Random, count: number): Buffer {
  const bytes = Buffer.alloc(count)
  for (let at = 0; at < count; at++) bytes[at] = Math.floor(random.next() * 256)
  bytes[0] ||= 1
  return bytes
}
