// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Describes the difference between a generated file and its new text; null without one. */
export function describeDrift(path: string, found: string | null, wanted: string): string | null {
  if (found === wanted) return null
  if (found === null) return `${path} is missing`
  const is = found.split('\n')
  const shouldBe = wanted.split('\n')
  const at = shouldBe.findIndex((line, index) => line !== is[index])
  const line = at === -1 ? shouldBe.length : at
  return [
    `${path} is stale, first at line ${line + 1}:`,
    `  is         ${is[line] ?? '(nothing)'}`,
    `  should be  ${shouldBe[line] ?? '(nothing)'}`,
  ].join('\n')
}
