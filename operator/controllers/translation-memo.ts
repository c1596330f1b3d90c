// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Translation } from '../translate/translation.ts'

/** As many as may be woken again before they are forgotten; each holds a whole config. */
const most = 256

/** Keeps the last translations, since most of what wakes a router changes nothing that it depends on. */
export class TranslationMemo {
  readonly #last = new Map<
    string,
    { readonly fingerprint: string; readonly translation: Translation }
  >()

  async of(
    key: string,
    fingerprint: string,
    translate: () => Promise<Translation>,
  ): Promise<Translation> {
    const last = this.#last.get(key)
    if (last?.fingerprint === fingerprint) return last.translation
    const translation = await translate()
    this.#last.delete(key)
    this.#last.set(key, { fingerprint, translation })
    const [oldest] = this.#last.keys()
    if (this.#last.size > most && oldest !== undefined) this.#last.delete(oldest)
    return translation
  }

  forget(key: string): void {
    this.#last.delete(key)
  }
}
