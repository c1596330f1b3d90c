// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { HeaderList } from '../../upstream/wire.ts'

/** The type of a `Content-Type`, or of one entry of an `Accept`, in lower case. */
export function mediaType(text: string): string {
  return (text.split(';', 1)[0] as string).trim().toLowerCase()
}

/**
 * The types that a request names in its `Accept` beside JSON: the binary forms in which some nodes
 * answer. Text is none of them, for clients name it that only take what comes.
 */
export function otherTypes(headers: HeaderList): readonly string[] {
  const accepted: string[] = []
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.toLowerCase() === 'accept') accepted.push(headers[at + 1] as string)
  return accepted.flatMap((each) => each.split(',').map(mediaType)).filter(isOther)
}

function isOther(type: string): boolean {
  return /^[^*/]+\/[^*]+$/.test(type) && !type.startsWith('text/') && type !== 'application/json'
}
