// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { Box, render, Text, useApp, useInput, useWindowSize, type Key } from 'ink'
import { createElement, useEffect, useRef, useState } from 'react'
import { sleep, type Clock } from '../clock/clock.ts'
import type { Replicas } from './replicas.ts'
import { sorts, type Tone } from './rows.ts'
import { linesOf, type Line, upstreamLines } from './text.ts'

/** What a console needs. */
export interface ScreenOptions {
  readonly replicas: Replicas
  readonly clock: Clock
  /** False: attributes and words alone. */
  readonly isColoured: boolean
}

const everyMs = 1_000
const colours: Partial<Readonly<Record<Tone, string>>> = {
  down: 'red',
  bad: 'red',
  odd: 'yellow',
  head: 'cyan',
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

interface Model {
  /** The line that the cursor stands on, as `stopsIn` names it; it stays there when lines move. */
  readonly cursor: string | null
  /** What Enter has opened: an upstream by its key, or a text. */
  readonly opened: { readonly upstream?: string; readonly text?: string } | null
  /** First line of what is open. */
  readonly scroll: number
  readonly filter: string
  readonly isTyping: boolean
  readonly sort: number
  readonly isPaused: boolean
}

const first: Model = {
  ...{ cursor: null, opened: null, scroll: 0 },
  ...{ filter: '', isTyping: false, sort: 0, isPaused: false },
}

/** Lines where the cursor can stand, by their names. An upstream has one among the problems, and one in the table. */
function stopsIn(lines: readonly Line[]): ReadonlyMap<string, Line> {
  const stops = new Map<string, Line>()
  for (const line of lines) {
    if (!line.opens) continue
    let name = JSON.stringify(line.opens)
    while (stops.has(name)) name += '+'
    stops.set(name, line)
  }
  return stops
}

function Screen({ replicas, clock, isColoured }: ScreenOptions) {
  const { exit } = useApp()
  const { columns, rows } = useWindowSize()
  const [model, setModel] = useState(first)
  const [shown, setShown] = useState({ view: replicas.view, calls: replicas.calls })
  const { isPaused, filter, isTyping, opened } = model
  // Keys come faster than frames: each goes on from what the one before it made.
  const latest = useRef(model)
  const change = (more: Partial<Model>) => {
    latest.current = { ...latest.current, ...more }
    setModel(latest.current)
  }

  useEffect(() => {
    const over = new AbortController()
    const follow = async () => {
      while (!over.signal.aborted) {
        if (!isPaused) {
          await replicas.ask()
          if (!over.signal.aborted) setShown({ view: replicas.view, calls: replicas.calls })
        }
        await sleep(clock, everyMs, over.signal)
      }
    }
    follow().catch((error: unknown) => over.signal.aborted || exit(error as Error))
    return () => over.abort()
  }, [isPaused])

  const { view, calls } = shown
  const sort = sorts[model.sort % sorts.length] ?? 'state'
  const { text: openText, upstream = null } = opened ?? {}
  const all: readonly Line[] =
    upstream !== null
      ? upstreamLines(view, upstream)
      : (openText?.split('\n').map((each) => ({ text: each, tone: 'plain' })) ??
        // One column is the cursor's.
        linesOf(view, { columns: columns - 1, sort, filter, calls }))
  const height = Math.max(1, rows - 3)
  const stops = stopsIn(all)
  const names = [...stops.keys()]
  const cursorIn = ({ cursor }: Model) => Math.max(0, names.indexOf(cursor ?? ''))
  const here = stops.get(names[cursorIn(model)] ?? '')
  const line = here ? all.indexOf(here) : -1
  const last = Math.max(0, all.length - height)
  const top = Math.min(opened ? model.scroll : Math.max(0, line - Math.floor(height * 0.7)), last)

  const open = ({ opens }: Line) => {
    if (opens?.call === undefined) return change({ opened: opens ?? null, scroll: 0 })
    change({ opened: { text: 'asking ...' }, scroll: 0 })
    void replicas.explain(opens.call).then((text) => change({ opened: { text } }))
  }
  const move = (by: number) => {
    const { opened: isOpen, scroll } = latest.current
    if (isOpen) return change({ scroll: Math.min(Math.max(scroll + by, 0), last) })
    const next = Math.min(Math.max(cursorIn(latest.current) + by, 0), names.length - 1)
    change({ cursor: names[next] ?? null })
  }
  const type = (input: string, key: Key) => {
    const now = latest.current.filter
    if (key.return) change({ isTyping: false })
    else if (key.escape) change({ isTyping: false, filter: '' })
    else if (key.backspace || key.delete) change({ filter: now.slice(0, -1) })
    else if (!key.ctrl && !key.meta) change({ filter: now + input })
  }
  const press = (input: string, key: Key) => {
    const now = latest.current
    const cursor = stops.get(names[cursorIn(now)] ?? '')
    if (now.isTyping) type(input, key)
    else if (key.upArrow || input === 'k') move(-1)
    else if (key.downArrow || input === 'j') move(1)
    else if (key.pageUp) move(-height)
    else if (key.pageDown) move(height)
    else if (now.opened && (key.escape || key.return || input === 'q')) change({ opened: null })
    else if (key.escape) change({ filter: '' })
    else if (key.return && cursor) open(cursor)
    else if (input === 'q') exit()
    else if (input === '/') change({ isTyping: true, opened: null })
    else if (input === 's') change({ sort: now.sort + 1 })
    else if (input === ' ' || input === 'p') change({ isPaused: !now.isPaused })
  }
  useInput((input: string, key: Key) => {
    // What was typed at once may come as one text; a key without a character comes as none.
    for (const each of input === '' ? [''] : input) press(each, key)
  })

  const text = ({ text: words, tone }: Line, isHere: boolean, key: number) => {
    const colour = isColoured ? colours[tone] : undefined
    return createElement(
      Text,
      {
        key,
        ...{ wrap: 'truncate', inverse: isHere, bold: tone === 'down' || tone === 'head' },
        ...(colour && { color: colour }),
      },
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
  const lines = all.slice(top, top + height)
  return createElement(
    Box,
    { flexDirection: 'column', height: rows - 1, overflow: 'hidden' },
    text({ text: head.join('  '), tone: 'head' }, false, -1),
    ...lines.map((each, index) => text(each, !opened && top + index === line, index)),
    createElement(Box, { key: 'rest', flexGrow: 1 }),
    text({ text: more + keys, tone: 'faint' }, false, -2),
  )
}
