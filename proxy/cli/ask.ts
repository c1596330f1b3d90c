// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Select, TextInput } from '@inkjs/ui'
import { Box, render, Text } from 'ink'
import { createElement } from 'react'

/**
 * Prompts the user on this terminal, and leaves question and answer on the screen.
 * @param choices what the user picks from; absent: the user types text
 * @param otherwise initial text of the input
 * @returns null if the user cancels with Ctrl-C
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
  const prompt = createElement(Text, null, `${question} `)
  // Plain React calls: nothing compiles JSX here.
  const app = render(createElement(Box, { flexWrap: 'wrap' }, prompt, input), {
    ...{ interactive: true, patchConsole: false },
  })
  await app.waitUntilExit()
  return answer
}
