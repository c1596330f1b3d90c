// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type EventMeaning, eventReasons } from '../../operator/api/events.ts'
import { fillIn } from '../generate/fill-in.ts'

/** The text of `docs/reference/events.md`. */
export function render(): string {
  return fillIn('docs/reference/events.md', {
    events: [
      '| Reason | Type | About | Action | When | Runbook |',
      '|---|---|---|---|---|---|',
      ...Object.entries(eventReasons).map(([reason, event]) => row(reason, event)),
    ],
  })
}

function row(reason: string, { type, action, of: kinds, when }: EventMeaning): string {
  const about = kinds.map((kind) => `\`${kind}\``).join(', ')
  const page = `../runbooks/${runbookOf(reason)}.md`
  const link = type === 'Warning' ? `[What to do](${page})` : ''
  return `| \`${reason}\` | ${type} | ${about} | ${action} | ${when} | ${link} |`
}

/** `rollout-stalled` for `RolloutStalled`. */
function runbookOf(reason: string): string {
  return reason.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-').toLowerCase()
}
