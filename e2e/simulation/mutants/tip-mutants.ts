// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

/** Mistakes in what is known of the tip, and in who is behind it or ahead. */
export const tipMutants: readonly Mutant[] = [
  {
    name: 'a fee history ends where it begins',
    file: 'proxy/relay/told-block.ts',
    text: 'number + lastIndex(document, items)',
    replacement: 'number',
  },
]
