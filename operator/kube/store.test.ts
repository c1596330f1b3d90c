// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { objectKey, type KubeObject } from './object.ts'
import { type Change, Store } from './store.ts'

interface Thing extends KubeObject {
  readonly colours: readonly string[]
}

let version = 0
function thing(name: string, uid: string, ...colours: string[]): Thing {
  const resourceVersion = String(++version)
  return { apiVersion: 'v1', kind: 'Thing', metadata: { name, uid, resourceVersion }, colours }
}

function storeOf() {
  const store = new Store<Thing, 'colour'>({ colour: ({ colours }) => colours })
  const changes: string[] = []
  store.subscribe(({ type, object, previous }) =>
    changes.push(`${type} ${object.metadata.name} ${previous?.metadata.uid ?? '-'}`),
  )
  return { store, changes }
}

test('changes are published with the object before them', () => {
  const { store, changes } = storeOf()
  store.set(thing('a', '1'))
  store.set(thing('a', '1'))
  store.delete(thing('a', '1'))
  store.delete(thing('a', '1'))
  expect(changes).toEqual(['added a -', 'updated a 1', 'deleted a 1'])
})

test('a repeated version is not a change', () => {
  const { store, changes } = storeOf()
  const object = thing('a', '1')
  store.set(object)
  store.set(structuredClone(object))
  expect(changes).toEqual(['added a -'])
})

test('another object of the same name is a deletion and an addition', () => {
  const { store, changes } = storeOf()
  store.set(thing('a', '1'))
  store.set(thing('a', '2'))
  store.replace([thing('a', '3')])
  expect(changes).toEqual(['added a -', 'deleted a 1', 'added a -', 'deleted a 2', 'added a -'])
})

test('a full list deletes the objects that it lacks', () => {
  const { store, changes } = storeOf()
  const stays = thing('stays', '1')
  store.replace([stays, thing('gone', '2')])
  changes.length = 0
  store.replace([stays, thing('new', '3')])
  expect(changes).toEqual(['deleted gone 2', 'added new -'])
})

test('an index finds an object only under its current values', () => {
  const { store } = storeOf()
  const names = (colour: string) =>
    store.byIndex('colour', colour).map((each) => each.metadata.name)
  store.set(thing('a', '1', 'red', 'blue'))
  store.set(thing('b', '2', 'blue'))
  expect([names('red'), names('blue'), names('green')]).toEqual([['a'], ['a', 'b'], []])
  store.set(thing('a', '1', 'green'))
  expect([names('red'), names('blue'), names('green')]).toEqual([[], ['b'], ['a']])
  store.delete(thing('a', '1'))
  expect(names('green')).toEqual([])
})

test('stored objects are frozen', () => {
  const { store } = storeOf()
  store.set(thing('a', '1', 'red'))
  const object = store.get('a') as unknown as { colours: string[]; metadata: { name: string } }
  expect(() => object.colours.push('blue')).toThrow(TypeError)
  expect(() => (object.metadata.name = 'b')).toThrow(TypeError)
})

test('a late subscriber gets the existing objects', () => {
  const { store } = storeOf()
  store.set(thing('a', '1'))
  const late: string[] = []
  store.subscribe(({ type, object }) => late.push(`${type} ${object.metadata.name}`))
  expect(late).toEqual(['added a'])
})

test('a late event changes nothing', () => {
  const { store, changes } = storeOf()
  const [first, second] = [thing('a', '1'), thing('a', '1')]
  store.set(second)
  store.set(first)
  store.delete(first)
  expect([changes, store.get('a')]).toEqual([['added a -'], second])
})

test('a full list is taken over even if it is older', () => {
  const { store, changes } = storeOf()
  const old = thing('a', '1')
  store.set(thing('a', '1'))
  store.replace([old])
  expect([changes, store.get('a')]).toEqual([['added a -', 'updated a 1'], old])
})

test('a list of one namespace leaves the others unchanged', () => {
  const { store, changes } = storeOf()
  const inside = (namespace: string) => {
    const object = thing('a', '1')
    return { ...object, metadata: { ...object.metadata, namespace } }
  }
  store.set(inside('left'))
  store.set(inside('right'))
  store.replace([], 'left')
  expect([changes.length, store.list().map(({ metadata }) => objectKey(metadata))]).toEqual([
    3,
    ['right/a'],
  ])
})

const objects = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  uid: fc.constantFrom('1', '2'),
  colours: fc.uniqueArray(fc.constantFrom('red', 'green', 'blue')),
})
const steps = fc.oneof(
  fc.record({ do: fc.constant('set' as const), object: objects }),
  fc.record({ do: fc.constant('delete' as const), name: fc.constantFrom('a', 'b', 'c') }),
  fc.record({
    do: fc.constant('replace' as const),
    objects: fc.uniqueArray(objects, { selector: ({ name }) => name }),
  }),
)

test('the changes and the indexes match the store', () => {
  fc.assert(
    fc.property(fc.array(steps, { maxLength: 40 }), (script) => {
      const store = new Store<Thing, 'colour'>({ colour: ({ colours }) => colours })
      const mirror = new Map<string, Thing>()
      const follow = ({ type, object, previous }: Change<Thing>) => {
        const key = objectKey(object.metadata)
        expect(mirror.get(key) ?? null).toBe(previous)
        if (type === 'updated') expect(object.metadata.uid).toBe(previous?.metadata.uid)
        if (type === 'deleted') mirror.delete(key)
        else mirror.set(key, object)
      }
      store.subscribe(follow)
      const make = ({ name, uid, colours }: { name: string; uid: string; colours: string[] }) =>
        thing(name, uid, ...colours)
      for (const step of script) {
        if (step.do === 'set') store.set(make(step.object))
        else if (step.do === 'delete') store.delete(thing(step.name, '1'))
        else store.replace(step.objects.map(make))
      }
      expect(new Map(store.list().map((each) => [each.metadata.name, each]))).toEqual(mirror)
      for (const colour of ['red', 'green', 'blue'])
        expect(new Set(store.byIndex('colour', colour))).toEqual(
          new Set(store.list().filter(({ colours }) => colours.includes(colour))),
        )
    }),
  )
})
