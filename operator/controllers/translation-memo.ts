// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { sha256 } from '../translate/digest.ts'
import { isAsWritten, type Translation } from '../translate/translation.ts'

/** As much is kept for routers that may be woken again: each character of a config stands for some three more of plans. */
const mostCharacters = 16_777_216

/** What a translation was made from. Hashes of it are kept: secret values may be part of it. */
export interface TranslationBasis {
  /** Changes with the objects that it is made from. */
  readonly objects: string
  /** Changes with what the pods run. */
  readonly running: string
}

/** Of one router: a form that its pods can go on with, and where that is another, one for new pods. */
interface Remembered extends TranslationBasis {
  readonly forms: ReadonlyMap<boolean, Translation>
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
   * @param newPods which of its forms
   */
  async of(
    key: string,
    newPods: boolean,
    basis: TranslationBasis,
    translate: () => Promise<Translation>,
  ): Promise<Translation> {
    const objects = sha256([basis.objects])
    const running = sha256([basis.running])
    const last = this.#last.get(key)
    const known = last?.objects === objects ? last.forms.get(newPods) : undefined
    if (known && (last?.running === running || isAsWritten(known))) return known
    const translation = await translate()
    const present = this.#last.get(key)
    // Of the same: the other form holds as well.
    const isSame = present?.objects === objects && present.running === running
    const forms = new Map(isSame ? present.forms : []).set(newPods, translation)
    this.#remember(key, { objects, running, forms })
    return translation
  }

  #remember(key: string, made: Omit<Remembered, 'characters'>): void {
    this.forget(key)
    const characters = [...made.forms.values()].reduce((sum, form) => sum + charactersOf(form), 0)
    this.#last.set(key, { ...made, characters })
    this.#characters += characters
    for (const oldest of this.#last.keys()) {
      if (this.#characters <= this.#mostCharacters) break
      this.forget(oldest)
    }
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
