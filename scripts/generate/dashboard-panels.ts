// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { upstreamStates, type UpstreamState } from '../../proxy/upstream/observer.ts'

const stateColors: Readonly<Record<UpstreamState, string>> = {
  eligible: 'green',
  lagging: 'yellow',
  cooldown: 'orange',
  unverified: 'blue',
  disabled: 'red',
  rejected: 'dark-red',
}

type Text = readonly [text: string, color: string]

function mapping(texts: Readonly<Record<string, Text>>) {
  const options = Object.entries(texts).map(([value, [text, color]], index) => [
    value,
    { text, color, index },
  ])
  return { type: 'value', options: Object.fromEntries(options) as object }
}

const stateNames = mapping(
  Object.fromEntries(upstreamStates.map((state) => [state, [state, stateColors[state]]])),
)

/** Meanings of the values on a timeline, by how it is shown. */
const timelines: Readonly<Record<string, object>> = {
  states: mapping(
    Object.fromEntries(
      upstreamStates.map((state, index) => [`${index + 1}`, [state, stateColors[state]]]),
    ),
  ),
  bad: mapping({ 0: ['no', 'green'], 1: ['yes', 'red'] }),
  good: mapping({ 0: ['no', 'red'], 1: ['yes', 'green'] }),
}

/** Width and height of a panel in columns and rows of Grafana. */
export function panelSize(show: string): readonly [width: number, height: number] {
  if (show === 'stat') return [4, 4]
  return show === 'table' ? [24, 8] : [show === 'states' ? 16 : 8, 8]
}

/** @param limits `0.01 0.05`: from which value on it is a warning, or bad; `<1`: bad below 1 */
function thresholds(limits: string) {
  const [warning, bad] = limits.split(' ').map(Number)
  const steps = limits.startsWith('<')
    ? [
        { color: 'red', value: null },
        { color: 'green', value: Number(limits.slice(1)) },
      ]
    : [
        { color: 'green', value: null },
        ...(warning === bad ? [] : [{ color: 'orange', value: warning }]),
        ...(bad === undefined ? [] : [{ color: 'red', value: bad }]),
      ]
  return { mode: 'absolute', steps }
}

interface PanelOptions {
  readonly show: string
  readonly unit: string
  readonly limits?: string | undefined
  /** Titles of the queries of a table. */
  readonly columns: readonly string[]
}

/** The parts of a panel that depend on how it is shown. */
export function panelBody({ show, unit, limits, columns }: PanelOptions): object {
  if (show === 'table') return tableBody(columns)
  const timeline = timelines[show]
  if (timeline) {
    const defaults = { custom: { fillOpacity: 80, lineWidth: 0 }, mappings: [timeline] }
    return {
      type: 'state-timeline',
      fieldConfig: { defaults, overrides: [] },
      options: { mergeValues: true, showValue: 'never', rowHeight: 0.9 },
    }
  }
  const steps = limits === undefined ? {} : { thresholds: thresholds(limits) }
  if (show === 'stat') {
    const colorMode = limits === undefined ? 'none' : 'value'
    const defaults = { unit, min: 0, ...steps }
    return { type: 'stat', fieldConfig: { defaults, overrides: [] }, options: { colorMode } }
  }
  const line = limits === undefined ? {} : { custom: { thresholdsStyle: { mode: 'dashed' } } }
  const defaults = { unit, min: 0, color: { mode: 'palette-classic' }, ...steps, ...line }
  return {
    type: 'timeseries',
    fieldConfig: { defaults, overrides: [] },
    options: { tooltip: { mode: 'multi', sort: 'desc' } },
  }
}

const labels = ['chain', 'interface', 'upstream', 'tier', 'state']

/** The labels, then a column per query. The first query only lists the rows. */
function tableBody(columns: readonly string[]): object {
  const values = columns.map(
    (title, at) => [`Value #${String.fromCodePoint(65 + at)}`, title] as const,
  )
  const cell = { type: 'color-text' }
  const override = (name: string, properties: Readonly<Record<string, unknown>>) => ({
    matcher: { id: 'byName', options: name },
    properties: Object.entries(properties).map(([id, value]) => ({ id, value })),
  })
  const overrides = [
    override('state', { mappings: [stateNames], 'custom.cellOptions': cell }),
    override('Since', { unit: 'dateTimeFromNow' }),
    override('Score', { unit: 'percentunit' }),
  ]
  return {
    type: 'table',
    fieldConfig: { defaults: { decimals: 0 }, overrides },
    options: { showHeader: true },
    transformations: [
      { id: 'merge', options: {} },
      {
        id: 'organize',
        options: {
          excludeByName: { Time: true, 'Value #A': true },
          indexByName: Object.fromEntries(labels.map((label, at) => [label, at])),
          renameByName: Object.fromEntries(values) as Readonly<Record<string, string>>,
        },
      },
    ],
  }
}
