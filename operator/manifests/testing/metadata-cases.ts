// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * Metadata laid over that of an object whose name is alpha. A suite on a real API asks the API server about each.
 */

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'a', uid: 'b' }
const long = 'a'.repeat(64)

export const refusedMetadata: readonly (readonly [object, string])[] = [
  [{ labels: { team: true } }, 'metadata.labels: the value of team must be a text'],
  [{ labels: { team: 8 } }, 'metadata.labels: the value of team must be a text'],
  [{ labels: ['a'] }, 'metadata.labels must be a map'],
  [{ labels: { 'a b': 'c' } }, 'metadata.labels: the key a b must have'],
  [{ labels: { 'A.example/b': 'c' } }, 'metadata.labels: the key A.example/b must have'],
  [{ labels: { 'a/b/c': 'c' } }, 'metadata.labels: the key a/b/c must have'],
  [{ labels: { '/b': 'c' } }, 'metadata.labels: the key /b must have'],
  [{ labels: { [long]: 'c' } }, 'metadata.labels: the key aaa'],
  [{ labels: { a: 'b c' } }, 'metadata.labels: the value of a must have'],
  [{ labels: { a: '-b' } }, 'metadata.labels: the value of a must have'],
  [{ labels: { a: long } }, 'metadata.labels: the value of a must have'],
  [{ annotations: { a: 1 } }, 'metadata.annotations: the value of a must be a text'],
  [{ annotations: { 'a b': 'c' } }, 'metadata.annotations: the key a b must have'],
  [{ annotations: { a: 'b'.repeat(256 * 1024) } }, 'metadata.annotations may have at most 256 KiB'],
  [{ finalizers: 'a' }, 'metadata.finalizers must be a list'],
  [{ finalizers: [7] }, 'metadata.finalizers[0] must be a text'],
  [{ finalizers: ['a b'] }, 'metadata.finalizers[0] must have'],
  [{ generateName: 7 }, 'metadata.generateName must be a text'],
  [{ generateName: 'AB-' }, 'metadata.generateName must be the begin of a name'],
  [{ generateName: 'a_b' }, 'metadata.generateName must be the begin of a name'],
  [{ generation: 'x' }, 'metadata.generation must be a whole number'],
  [{ name: 'a_b' }, 'metadata.name must have'],
  [{ ownerReferences: {} }, 'metadata.ownerReferences must be a list'],
  [{ ownerReferences: [{ ...owner, uid: '' }] }, 'metadata.ownerReferences[0].uid must be a text'],
  [
    {
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, uid: 'c', controller: true },
      ],
    },
    'metadata.ownerReferences: only one owner may be the controller',
  ],
  [{ lables: {} }, 'unknown field "metadata.lables"'],
]

export const acceptedMetadata: readonly (readonly [object])[] = [
  [{}],
  [{ labels: null, annotations: null, finalizers: null, ownerReferences: null }],
  [{ generateName: null, creationTimestamp: null, uid: null }],
  [{ labels: { team: null } }],
  [{ labels: { 'a.example/B_c.d': '', x: 'A.b-c_9' } }],
  [{ labels: { [long.slice(1)]: long.slice(1) } }],
  [{ annotations: { 'Example.COM/a': 'any text: at\nall' } }],
  [{ finalizers: ['a.example/b'] }],
  [{ generateName: 'alpha-' }],
  [{ generateName: '' }],
  [{ generateName: 'A-' }],
  [{ ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: false }] }],
]
