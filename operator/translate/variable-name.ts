// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { digest } from './digest.ts'

const longestWord = 24

/**
 * The name of the environment variable that carries a secret, made of where the secret is used, not of where it comes
 * from: another Secret in the same place changes no line of the router's config.
 *
 * @param place from the outside in, e.g. `['eth-main', 'https://…', 'header', 'x-api-key']`
 * @returns `ETH_MAIN_X_API_KEY_3F0A…`: the first and the last words for people, a hash of all of them for uniqueness
 */
export function variableName(place: readonly string[]): string {
  const shown = [place[0] ?? '', place.at(-1) ?? ''].map(shoutingWord)
  return ['KEY', ...shown, digest(place).toUpperCase()].join('_')
}

function shoutingWord(text: string): string {
  return text
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, '_')
    .slice(0, longestWord)
    .replaceAll(/^_|_$/g, '')
}
