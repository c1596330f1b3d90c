// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Frame } from './cpu-profile.ts'

const width = 1600
const rowHeight = 17
const minWidth = 0.5
const charWidth = 6.5

/** An SVG of the call tree with callers on top. A frame shows name, file and share on hover. */
export function flameGraph(root: Frame): string {
  const rects: string[] = []
  let depth = 0
  const draw = (frame: Frame, x: number, level: number) => {
    const w = (frame.totalMicros / root.totalMicros) * width
    if (w < minWidth) return
    depth = Math.max(depth, level)
    const share = ((frame.totalMicros / root.totalMicros) * 100).toFixed(1)
    const label = frame.name.slice(0, Math.max(0, Math.floor((w - 4) / charWidth)))
    rects.push(
      `<g><title>${escape(`${frame.name} ${frame.where} ${share} %`)}</title>` +
        `<rect x="${x.toFixed(1)}" y="${level * rowHeight}" width="${w.toFixed(1)}" height="${rowHeight - 1}" fill="${colorOf(frame)}"/>` +
        `<text x="${(x + 2).toFixed(1)}" y="${level * rowHeight + 12}">${escape(label)}</text></g>`,
    )
    let at = x
    for (const child of frame.children.toSorted((a, b) => b.totalMicros - a.totalMicros)) {
      draw(child, at, level + 1)
      at += (child.totalMicros / root.totalMicros) * width
    }
  }
  draw(root, 0, 0)
  const height = (depth + 1) * rowHeight
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="monospace" font-size="11">\n` +
    `${rects.join('\n')}\n</svg>\n`
  )
}

/** Highlights the project's own code. */
function colorOf({ where }: Frame): string {
  if (where.startsWith('proxy/')) return '#f0a35e'
  if (where.startsWith('node_modules/')) return '#8fb8de'
  if (where.startsWith('node:')) return '#b9d8b4'
  return '#d8d8d8'
}

function escape(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')
}
