// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Box, render, Text, useApp, useInput, useWindowSize, type Key } from 'ink'
import { createElement, useEffect, useReducer, useState } from 'react'
import { sleep, type Clock } from '../clock/clock.ts'
import { clean } from './format.ts'
import { detailsOf, isShown, linesOf, sorts, type Line } from './lines.ts'
import type { Replicas } from './replicas.ts'

/** What a console needs. */
export interface ScreenOptions {
  readonly replicas: Replicas
  readonly clock: Clock
  /** False: attributes and words alone. */
  readonly isColoured: boolean
}

const everyMs = 1_000
const colours: Partial<Readonly<Record<Line['tone'], string>>> = {
  ...{ down: 'red', bad: 'red', odd: 'yellow', head: 'cyan' },
}

/** Shows the replicas on this terminal until the user leaves. Of React nothing is compiled: no JSX. */
export async function showScreen(options: ScreenOptions): Promise<void> {
  const app = render(createElement(Screen, options), {
    // One line less than the terminal has: what is as high would be cleared each time, and flicker.
    ...{ alternateScreen: true, incrementalRendering: true, maxFps: 4 },
    ...{ interactive: true, patchConsole: false },
  })
  await app.waitUntilExit()
}

/** Lines where the cursor can stand, by their names. An upstream has one among the problems, and one in the table. */
function stopsIn(lines: readonly Line[]): ReadonlyMap<string, Line> {
  const stops = new Map<string, Line>()
  for (const line of lines) {
    let name = line.opens
    if (name === undefined) continue
    while (stops.has(name)) name += '+'
    stops.set(name, line)
  }
  return stops
}

function Screen({ replicas, clock, isColoured }: ScreenOptions) {
  const { exit } = useApp()
  const { columns, rows } = useWindowSize()
  const [, redraw] = useReducer((frames: number) => frames + 1, 0)
  // Keys come faster than frames: each changes what the one before it has made.
  const [model] = useState(() => ({
    ...{ view: replicas.view, calls: replicas.calls },
    /** The line that the cursor stands on, as `stopsIn` names it; it stays there when lines move. */
    cursor: '',
    /** What Enter has opened: an upstream by its key, or a text. */
    opened: null as { readonly upstream: string } | { readonly text: string } | null,
    /** First line of what is open. */
    scroll: 0,
    ...{ filter: '', isTyping: false, sort: 0, isPaused: false },
  }))

  useEffect(() => {
    const over = new AbortController()
    const follow = async () => {
      for (; !over.signal.aborted; await sleep(clock, everyMs, over.signal)) {
        if (!model.isPaused) await replicas.ask()
        if (!model.isPaused) Object.assign(model, { view: replicas.view, calls: replicas.calls })
        redraw()
      }
    }
    follow().catch((error: unknown) => over.signal.aborted || exit(error as Error))
    return () => over.abort()
  }, [])

  const { view, filter, isTyping, opened, isPaused } = model
  const sort = sorts[model.sort % sorts.length] ?? 'state'
  const text =
    opened && 'upstream' in opened
      ? (detailsOf(view).get(opened.upstream) ?? clean(`${opened.upstream} is not there any more.`))
      : opened?.text
  // One column is the cursor's.
  const table = linesOf(view, model.calls, columns - 1, sort).filter((one) => isShown(one, filter))
  const all = text?.split('\n').map((each): Line => ({ text: each, tone: 'plain' })) ?? table
  const height = Math.max(1, rows - 3)
  const last = Math.max(0, all.length - height)
  const stops = stopsIn(all)
  const names = [...stops.keys()]
  const here = () => stops.get(model.cursor) ?? stops.get(names[0] ?? '')
  const line = all.findIndex((one) => one === here())
  const top = Math.min(opened ? model.scroll : Math.max(0, line - Math.floor(height * 0.7)), last)

  const show = (next: typeof opened) => Object.assign(model, { opened: next, scroll: 0 })
  const open = async (name: string | undefined) => {
    if (name === undefined) return
    if (detailsOf(view).has(name)) return show({ upstream: name })
    const asking = { text: 'asking ...' }
    show(asking)
    const said = { text: await replicas.explain(name) }
    if (model.opened === asking) show(said)
    redraw()
  }
  const move = (by: number) => {
    if (model.opened) model.scroll = Math.min(Math.max(model.scroll + by, 0), last)
    else {
      const next = Math.max(names.indexOf(model.cursor), 0) + by
      model.cursor = names[Math.min(Math.max(next, 0), names.length - 1)] ?? ''
    }
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
    else if (model.opened && (key.escape || key.return || input === 'q')) show(null)
    else if (key.escape) model.filter = ''
    else if (key.return) void open(here()?.opens)
    else if (input === 'q') exit()
    else if (input === '/') Object.assign(show(null), { isTyping: true })
    else if (input === 's') model.sort += 1
    else if (input === ' ') model.isPaused = !model.isPaused
  }
  useInput((input: string, key: Key) => {
    // What was typed at once may come as one text; a key without a character comes as none.
    for (const each of input === '' ? [''] : input)
      press(each, { ...key, return: key.return || each === '\r' })
    redraw()
  })

  const draw = ({ text: words, tone }: Line, key: number, isHere = false) => {
    const colour = isColoured ? colours[tone] : undefined
    const style = { inverse: isHere, bold: tone === 'down' || tone === 'head' }
    return createElement(
      Text,
      { key, wrap: 'truncate', ...style, ...(colour && { color: colour }) },
      `${isHere ? '>' : ' '}${words || ' '}`,
    )
  }
  const answering = view.replicas.filter(({ problem }) => problem === null).length
  // What the user has switched first: the end may not fit.
  const head = [
    `router top  ${view.at.slice(11, 19)} UTC`,
    ...(isPaused ? ['PAUSED'] : []),
    ...(filter === '' && !isTyping ? [] : [`filter: ${filter}${isTyping ? '_' : ''}`]),
    `${answering} of ${view.replicas.length} replicas answer`,
    `sort: ${sort}`,
    `rates of ${Math.round(view.seconds)} s`,
  ]
  const more = all.length > top + height ? `${all.length - top - height} more lines below  ` : ''
  const keys = opened
    ? 'esc back  j/k scroll'
    : 'q quit  j/k move  enter why  / filter  s sort  space pause'
  return createElement(
    Box,
    { flexDirection: 'column', height: rows - 1, overflow: 'hidden' },
    draw({ text: head.join('  '), tone: 'head' }, -1),
    ...all.slice(top, top + height).map((one, at) => draw(one, at, !opened && top + at === line)),
    createElement(Box, { key: 'rest', flexGrow: 1 }),
    draw({ text: more + keys, tone: 'faint' }, -2),
  )
}
