// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { KubeObject } from './object.ts'
import type { Resource } from './resource.ts'

/** Names an object in an event. */
export interface ObjectReference {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
}

/** An event of `events.k8s.io/v1`. Its instants have six digits behind the second. */
export interface KubeEvent extends KubeObject {
  readonly eventTime: string
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly action: string
  readonly note: string
  readonly regarding: ObjectReference
  readonly related?: ObjectReference
  readonly reportingController: string
  readonly reportingInstance: string
  /** Present from the second time on. */
  readonly series?: { readonly count: number; readonly lastObservedTime: string }
}

export const events: Resource<KubeEvent> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
}

/** The reference by which an event names an object. */
export function referenceTo({ apiVersion, kind, metadata }: KubeObject): ObjectReference {
  const { name, namespace, uid } = metadata
  return {
    apiVersion,
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
  }
}

/** The API server takes notes up to so many bytes of UTF-8. */
const mostNoteBytes = 1024

/** The note, cut at a whole character with `...` when it is too long. */
export function fitNote(note: string): string {
  const bytes = Buffer.from(note)
  if (bytes.length <= mostNoteBytes) return note
  let end = mostNoteBytes - 3
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return `${bytes.subarray(0, end).toString()}...`
}
