// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Select, TextInput } from '@inkjs/ui'
import { Box, render, Text } from 'ink'
import { createElement } from 'react'

/**
 * Asks the user on this terminal, and leaves the question there with its answer.
 * @param choices one of these is picked; absent: a text is typed
 * @param otherwise the text that stands there before
 * @returns null where the user leaves, by Ctrl-C
 */
export async function ask(
  question: string,
  { choices, otherwise = '' }: { choices?: readonly string[]; otherwise?: string } = {},
): Promise<string | null> {
  let answer: string | null = null
  const answered = (text: string) => {
    answer = text.trim()
    app.rerender(createElement(Text, null, `${question} ${answer}`))
    void app.waitUntilRenderFlush().then(() => app.unmount())
  }
  const options = choices?.map((each) => ({ label: each, value: each }))
  const input = options
    ? createElement(Select, { options, visibleOptionCount: 10, onChange: answered })
    : createElement(TextInput, { defaultValue: otherwise, onSubmit: answered })
  const asked = createElement(Text, null, `${question} `)
  // Of React nothing is compiled: no JSX.
  const app = render(createElement(Box, { flexWrap: 'wrap' }, asked, input), {
    ...{ interactive: true, patchConsole: false },
  })
  await app.waitUntilExit()
  return answer
}
