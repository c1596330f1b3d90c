// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** How soon a router that waits for its turn looks again. */
export const turnAgainMs = 5_000

/** Lets so many routers replace their pods at a time, and no more: an upgrade of the operator concerns all of them. */
export class RolloutTurns {
  readonly #most: number
  /** Those whose new pods are being asked for. */
  readonly #beginning = new Set<string>()

  constructor(most: number) {
    this.#most = most
  }

  /**
   * Runs `begin`, which asks for new pods of a router, unless as many others have theirs replaced.
   * @param rolling others whose rollout is under way, as the cluster reports it
   * @returns null when it has to wait
   */
  async take<T>(
    router: string,
    rolling: readonly string[],
    begin: () => Promise<T>,
  ): Promise<T | null> {
    const others = new Set([...rolling, ...this.#beginning])
    others.delete(router)
    if (others.size >= this.#most) return null
    this.#beginning.add(router)
    try {
      return await begin()
    } finally {
      this.#beginning.delete(router)
    }
  }
}
