// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { ReplyBody } from '../wire/reply-body.ts'

/** Counts the bytes that nodes stream from now on. */
export function countStreamedBytes(): { readonly count: () => number; readonly stop: () => void } {
  const { push } = ReplyBody.prototype
  let bytes = 0
  ReplyBody.prototype.push = function (chunk) {
    bytes += chunk.length
    push.call(this, chunk)
  }
  return { count: () => bytes, stop: () => (ReplyBody.prototype.push = push) }
}
