// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Violation } from './check-source.ts'
import { emptyNames, namedAfterKinds } from './table.ts'

const kebabCase = /^\.?[a-z0-9]+([.-][a-z0-9]+)*$/

/** The violations in the path of a source file. */
export function checkName(path: string): Violation[] {
  return path.split('/').flatMap((part) => {
    if (!kebabCase.test(part)) return [`${path}: ${part} is not in kebab-case.`]
    const empty = part.split(/[.-]/).find((word) => emptyNames.includes(word))
    if (empty === undefined || namedAfterKinds.includes(path)) return []
    return [`${path}: "${empty}" says nothing. Name it after the one thing that is inside.`]
  })
}
