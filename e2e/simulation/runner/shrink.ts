// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Spec } from '../engine.ts'
import type { Run, Simulation } from './run.ts'

/** Limit of shorter schedules to try. */
const maxTries = 400

type Path = readonly string[]
type Json = any

/**
 * Removes items from the lists of a schedule that breaks `rule`, as long as it still breaks it.
 * `ran`: the record of the rest.
 */
export async function shrink<Schedule>(
  { run }: Pick<Simulation<Schedule>, 'run'>,
  schedule: Schedule,
  rule: string,
  spec: Spec,
): Promise<{ readonly schedule: Schedule; readonly ran: Run }> {
  let shortest = { schedule, ran: await run(schedule, spec) }
  let tries = 0
  const isAccepted = async (candidate: Schedule): Promise<boolean> => {
    tries += 1
    // A schedule that cannot run is skipped.
    const ran = await run(candidate, spec).catch(() => null)
    if (!ran?.violations.some((each) => each.rule === rule)) return false
    shortest = { schedule: candidate, ran }
    return true
  }
  /** Removes chunks from one list, halves first, then smaller ones. */
  const shorten = async (path: Path): Promise<void> => {
    const list = (): readonly unknown[] => valueAt(shortest.schedule, path) ?? []
    for (
      let size = Math.ceil(list().length / 2);
      size >= 1;
      size = size > 1 ? Math.ceil(size / 2) : 0
    )
      for (let from = 0; from < list().length && tries < maxTries;) {
        const candidate = withValue(shortest.schedule, path, list().toSpliced(from, size))
        if (!(await isAccepted(candidate as Schedule))) from += size
      }
  }
  for (
    let before = Infinity;
    JSON.stringify(shortest.schedule).length < before && tries < maxTries;
  ) {
    before = JSON.stringify(shortest.schedule).length
    for (const path of listsIn(shortest.schedule)) await shorten(path)
  }
  return shortest
}

/** The lists in a schedule, outer ones first. */
function listsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, each]) => listsIn(each, [...path, key]))
  const all = Array.isArray(value) ? [path, ...inner] : inner
  return all.toSorted((a, b) => a.length - b.length)
}

function valueAt(value: Json, path: Path): Json {
  return path.reduce((inner, key) => inner?.[key], value)
}

function withValue(value: Json, [key, ...path]: Path, put: unknown): unknown {
  if (key === undefined) return put
  const inner = withValue(value[key], path, put)
  return Array.isArray(value) ? value.with(Number(key), inner) : { ...value, [key]: inner }
}
