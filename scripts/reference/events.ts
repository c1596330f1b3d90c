// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type EventMeaning, eventReasons } from '../../operator/api/events.ts'

/** The text of `docs/reference/events.md`. */
export function render(): string {
  const rows = Object.entries<EventMeaning>(eventReasons)
  return [
    '<!-- Generated from operator/api/events.ts. Do not edit. -->',
    '',
    '# Events of the operator',
    '',
    'What `kubectl describe rpcrouter` and `kubectl events --for rpcrouter/mainnet` show. One event a change; the same again',
    'becomes a count. Events are gone after an hour; whatever needs action is also in the [conditions](conditions.md).',
    '',
    '| Reason | Type | About | Action | When | Runbook |',
    '|---|---|---|---|---|---|',
    ...rows.map(([reason, event]) => row(reason, event)),
  ].join('\n')
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
