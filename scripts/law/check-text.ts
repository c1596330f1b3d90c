// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from './check-source.ts'

const traces = [
  {
    what: /(?<![\w.~}*-])\/(?:home|Users|root|work)\/[\w.-]{2,}/g,
    why: 'is a path of one machine. Name it from the project root.',
  },
  {
    what: /https?:\/\/[\w.-]*(?:registry|artifactory|nexus|verdaccio)[\w.-]*/g,
    why: 'is the host of a package registry. Where packages come from is for the settings of each machine.',
  },
]

/** Traces of the author's machine, which are useless to others and possibly private. */
export function checkText(path: string, text: string): Violation[] {
  return traces.flatMap(({ what, why }) =>
    [...text.matchAll(what)].map((match) => {
      const line = text.slice(0, match.index).split('\n').length
      return `${path}:${line} ${match[0]} ${why}`
    }),
  )
}
