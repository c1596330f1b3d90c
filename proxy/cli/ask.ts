// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { autocomplete, isCancel, text } from '@clack/prompts'
import type { ChainNames } from '../chain/types.ts'

/* Prompts of `router init`. Each returns undefined if the user cancels with Ctrl-C. */

const wordsIn = (answer: string | undefined) => answer?.split(/[\s,]+/).filter(Boolean) ?? []

/** @param faultOf what is wrong with the URLs, which the user then corrects */
export async function askUrls(
  faultOf: (urls: readonly string[]) => string | undefined,
): Promise<readonly string[] | undefined> {
  const answer = await text({
    message: 'URLs of your nodes, with spaces between, ${NAME} in place of a key',
    placeholder: 'https://eth.example.com/v2/${KEY}',
    validate: (value) => faultOf(wordsIn(value)),
  })
  return isCancel(answer) ? undefined : wordsIn(answer)
}

/** @param reported the chain that a node reports */
export async function askChain(
  names: readonly ChainNames[],
  reported: { readonly id: string; readonly name: string } | undefined,
): Promise<string | undefined> {
  const isNew = reported && !names.some(({ id }) => id === reported.id)
  // A chain comes before its testnets, whose ids are longer.
  const sorted = names.toSorted((a, b) => a.id.localeCompare(b.id))
  const all = [...(isNew ? [{ ...reported, aliases: [] }] : []), ...sorted]
  const answer = await autocomplete({
    message: reported ? 'The nodes report this chain' : 'Chain',
    placeholder: 'Type to filter',
    options: all.map(({ id, name, aliases }) => {
      return { value: id, label: name, hint: [id, ...aliases].join(', ') }
    }),
    ...(reported && { initialValue: reported.id }),
    maxItems: 10,
  })
  return isCancel(answer) ? undefined : answer
}

/** @param exists whether a file is there, which is never overwritten */
export async function askFile(
  usual: string,
  exists: (path: string) => boolean,
): Promise<string | undefined> {
  const answer = await text({
    message: 'File to write',
    initialValue: usual,
    validate: (path) => (path && exists(path) ? 'It exists. Name another file.' : undefined),
  })
  return isCancel(answer) ? undefined : answer || undefined
}
