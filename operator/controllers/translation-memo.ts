// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sha256 } from '../translate/digest.ts'
import type { Translation } from '../translate/translation.ts'

/** As much is kept for routers that may be woken again: each character of a config stands for some three more of plans. */
const mostCharacters = 16_777_216

/** Of one router. */
interface Remembered {
  /** A hash of what it was made from: secret values may be part of that. */
  readonly basis: string
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

  /**
   * @param key of the router
   * @param basis changes with whatever the translation is made from
   */
  of(key: string, basis: string, translate: () => Translation): Translation {
    const hash = sha256([basis])
    const last = this.#last.get(key)
    if (last?.basis === hash) return last.translation
    const translation = translate()
    this.forget(key)
    const characters = charactersOf(translation)
    this.#last.set(key, { basis: hash, translation, characters })
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

/** Without a config, what was found of the providers is most of it. */
function charactersOf({ config, refusals, dangling, providers }: Translation): number {
  if (config === null) return JSON.stringify([refusals, dangling, providers]).length
  return Object.values(config.data).reduce((sum, text) => sum + text.length, 0)
}
