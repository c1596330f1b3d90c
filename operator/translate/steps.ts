// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Long work in steps: between two of them others may have their turn. */
export type Steps<T> = Generator<undefined, T, undefined>

/** Does all of it at once. */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}
