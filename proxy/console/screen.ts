// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Box, render, Text, useApp, useInput, useWindowSize, type Key } from 'ink'
import { createElement, useEffect, useReducer, useState } from 'react'
import { sleep, type Clock } from '../clock/clock.ts'
import { detailsOf, isShown, linesOf, sorts, type Line } from './lines.ts'
import type { Replicas } from './replicas.ts'
import { counted } from '../words/counted.ts'

const everyMs = 1_000
const colours: Partial<Record<Line['tone'], string>> = {
  ...{ down: 'red', bad: 'red', odd: 'yellow', head: 'cyan' },
}

interface ScreenOptions {
  readonly replicas: Replicas
  readonly clock: Clock
  /** False: only attributes and words. */
  readonly isColoured: boolean
}

/** Shows the replicas on this terminal until the user quits. Uses plain React calls, no JSX. */
export async function showScreen(options: ScreenOptions): Promise<void> {
  const app = render(createElement(Screen, options), {
    // One line less than the terminal: at full height it would be cleared each time, and flicker.
    ...{ alternateScreen: true, incrementalRendering: true, maxFps: 4 },
    ...{ interactive: true, patchConsole: false },
  })
  await app.waitUntilExit()
}

function Screen({ replicas, clock, isColoured }: ScreenOptions) {
  const { exit } = useApp()
  const { columns, rows } = useWindowSize()
  const [, redraw] = useReducer((frames: number) => frames + 1, 0)
  // Keys may arrive faster than frames, and each must change the latest state.
  const [model] = useState(() => ({
    view: replicas.view,
    /** Index of the cursor among the lines that can be opened. */
    cursor: 0,
    /** What Enter opened: an upstream with details, or a call with its text. */
    opened: null as { readonly name: string; text: string } | null,
    /** First visible line of the opened item. */
    scroll: 0,
    ...{ filter: '', isTyping: false, sort: 0, isPaused: false },
  }))

  useEffect(() => {
    const follow = async () => {
      for (; ; redraw()) {
        await sleep(clock, everyMs)
        if (!model.isPaused) await replicas.ask()
        if (!model.isPaused) model.view = replicas.view
      }
    }
    follow().catch((error: unknown) => exit(error as Error))
  }, [])

  const { view, filter, isTyping, opened, isPaused } = model
  const sort = sorts[model.sort % sorts.length] ?? 'state'
  const text = opened && (detailsOf(view).get(opened.name) ?? opened.text)
  // One column is reserved for the cursor.
  const table = linesOf(view, columns - 1, sort).filter((one) => isShown(one, filter))
  const all = text?.split('\n').map((each): Line => ({ text: each, tone: 'plain' })) ?? table
  const height = Math.max(1, rows - 3)
  const lastTop = Math.max(0, all.length - height)
  const stops = table.filter(({ opens }) => opens)
  const here = () => stops[Math.min(model.cursor, stops.length - 1)]
  const line = all.findIndex((one) => one === here())
  const top = opened ? model.scroll : Math.max(0, line - Math.floor(height * 0.7))
  const first = Math.min(top, lastTop)

  const open = async () => {
    const next = { name: here()?.opens ?? '', text: 'asking ...' }
    Object.assign(model, { opened: next, scroll: 0 })
    if (!detailsOf(view).has(next.name)) next.text = await replicas.explain(next.name)
    redraw()
  }
  const move = (by: number) => {
    const clamped = (to: number, last: number) => Math.max(0, Math.min(to, last))
    if (model.opened) model.scroll = clamped(model.scroll + by, lastTop)
    else model.cursor = clamped(model.cursor + by, stops.length - 1)
  }
  const type = (input: string, key: Key) => {
    if (key.return || key.escape) model.isTyping = false
    if (key.escape) model.filter = ''
    else if (key.backspace || key.delete) model.filter = model.filter.slice(0, -1)
    else if (!key.return && !key.ctrl && !key.meta) model.filter += input
  }
  const press = (input: string, key: Key) => {
    if (model.isTyping) type(input, key)
    else if (key.upArrow || input === 'k') move(-1)
    else if (key.downArrow || input === 'j') move(1)
    else if (key.pageUp) move(-height)
    else if (key.pageDown) move(height)
    else if (model.opened && (key.escape || key.return || input === 'q')) model.opened = null
    else if (key.escape) model.filter = ''
    else if (key.return && stops.length > 0) void open()
    else if (input === 'q') exit()
    else if (input === '/') Object.assign(model, { opened: null, isTyping: true })
    else if (input === 's') model.sort += 1
    else if (input === ' ') model.isPaused = !model.isPaused
  }
  useInput((input: string, key: Key) => {
    // Fast typing may arrive as one text; a key without a character arrives as an empty one.
    for (const each of input === '' ? [''] : input)
      press(each, { ...key, return: key.return || each === '\r' })
    redraw()
  })

  const draw = ({ text: words, tone }: Line, key: number) => {
    const inverse = key >= 0 && key === line - first
    const color = (isColoured && colours[tone]) || ''
    const style = { color, inverse, bold: tone === 'down' || tone === 'head' }
    const shown = `${inverse ? '>' : ' '}${words || ' '}`
    return createElement(Text, { key, wrap: 'truncate', ...style }, shown)
  }
  const answering = view.replicas.filter(({ problem }) => problem === null).length
  // The user's settings come first, because the end may not fit.
  const head = [
    `router top  ${view.at.slice(11, 19)} UTC`,
    ...(isPaused ? ['PAUSED'] : []),
    ...(filter === '' && !isTyping ? [] : [`filter: ${filter}${isTyping ? '_' : ''}`]),
    `${answering} of ${counted(view.replicas.length, 'replica answers', 'replicas answer')}`,
    `sort: ${sort}`,
    `rates of ${Math.round(view.seconds)} s`,
  ]
  const more = first < lastTop ? `${lastTop - first} more lines below  ` : ''
  const keys = opened
    ? 'esc back  j/k scroll'
    : 'q quit  j/k move  enter why  / filter  s sort  space pause'
  return createElement(
    Box,
    { flexDirection: 'column', height: rows - 1, overflow: 'hidden' },
    draw({ text: head.join('  '), tone: 'head' }, -1),
    ...all.slice(first, first + height).map(draw),
    createElement(Box, { key: 'rest', flexGrow: 1 }),
    draw({ text: more + keys, tone: 'plain' }, -2),
  )
}
