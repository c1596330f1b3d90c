// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { isAsWritten, type Translation } from '../translate/translation.ts'

/** As much of configs is kept for routers that may be woken again: each character stands for some three more of plans. */
const mostCharacters = 16_777_216

/** What a translation was made from. */
export interface TranslationBasis {
  /** Changes with the objects that it is made from. */
  readonly objects: string
  /** Changes with what the pods run. */
  readonly running: string
}

interface Remembered extends TranslationBasis {
  readonly translation: Translation
  readonly characters: number
}

/** Keeps the last translations, since most of what wakes a router changes nothing that it depends on. */
export class TranslationMemo {
  readonly #last = new Map<string, Remembered>()
  readonly #mostCharacters: number
  #characters = 0

  constructor(most = mostCharacters) {
    this.#mostCharacters = most
  }

  async of(
    key: string,
    { objects, running }: TranslationBasis,
    translate: () => Promise<Translation>,
  ): Promise<Translation> {
    const last = this.#last.get(key)
    const holds = last?.running === running || (last && isAsWritten(last.translation))
    if (last?.objects === objects && holds) return last.translation
    const translation = await translate()
    this.forget(key)
    const characters = charactersOf(translation)
    this.#last.set(key, { objects, running, translation, characters })
    this.#characters += characters
    for (const oldest of this.#last.keys()) {
      if (this.#characters <= this.#mostCharacters) break
      this.forget(oldest)
    }
    return translation
  }

  forget(key: string): void {
    this.#characters -= this.#last.get(key)?.characters ?? 0
    this.#last.delete(key)
  }
}

function charactersOf({ config }: Translation): number {
  return Object.values(config?.data ?? {}).reduce((sum, text) => sum + text.length, 0)
}
