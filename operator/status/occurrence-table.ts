// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** One row of the events that the operator tells. */
interface OccurrenceMeaning {
  readonly type: 'Normal' | 'Warning'
  /** What was being done. */
  readonly action: string
  readonly when: string
}

/** Every event that there is. The reference is made of this table. */
export const occurrenceTable = {
  ConfigRendered: {
    type: 'Normal',
    action: 'Render',
    when: 'The router or its providers changed, and the pods get another config.',
  },
  SecretRotated: {
    type: 'Normal',
    action: 'Roll',
    when: 'The value of a key that the pods use changed.',
  },
  RolloutStarted: {
    type: 'Normal',
    action: 'Roll',
    when: 'The Deployment changed in another way: its image, its resources, the count of its pods.',
  },
  RolloutComplete: {
    type: 'Normal',
    action: 'Roll',
    when: 'All pods are of the newest revision.',
  },
  RolloutStalled: {
    type: 'Warning',
    action: 'Roll',
    when: 'The newest revision made no progress in time. The old pods keep serving.',
  },
  SecretNotFound: {
    type: 'Warning',
    action: 'Resolve',
    when: 'A Secret that is referred to, or its key, does not exist.',
  },
  InvalidProvider: {
    type: 'Warning',
    action: 'Accept',
    when: 'A provider cannot be used as it is written.',
  },
  NameConflict: {
    type: 'Warning',
    action: 'Apply',
    when: 'An object of a name that is needed belongs to somebody else.',
  },
} as const satisfies Readonly<Record<string, OccurrenceMeaning>>

export type OccurrenceReason = keyof typeof occurrenceTable
