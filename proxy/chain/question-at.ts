// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ProbeCall } from './types.ts'

/**
 * A question about the block of any height, from one in which `0x%x` stands for it in hexadecimal, `%d`
 * in decimal, and `"%n"` for the bare number.
 */
export function questionAt(template: ProbeCall): (height: number) => ProbeCall {
  return (height) => {
    const filled = (text: string) =>
      text
        .replaceAll('0x%x', `0x${height.toString(16)}`)
        .replaceAll('"%n"', String(height))
        .replaceAll('%d', String(height))
    return {
      ...template,
      path: filled(template.path),
      otherPaths: template.otherPaths?.map(filled) ?? [],
      body: template.body === null ? null : filled(template.body),
    }
  }
}

/** Whether it asks for one block rather than always for the same. */
export function namesHeight({ path, body }: ProbeCall): boolean {
  return [path, body ?? ''].some((text) => /0x%x|"%n"|%d/.test(text))
}
