// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** How long a text is by the bounds of the API: in code points, where JavaScript counts halves of some of them. */
export function textLength(text: string): number {
  return Array.from(text).length
}
