// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { LabelSelector } from '../api/labels.ts'

type Labels = Readonly<Record<string, string>>

/** Whether a selector matches labels: an empty one matches all, an absent one none. */
export function selects(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false
  const { matchLabels = {}, matchExpressions = [] } = selector
  return (
    Object.entries(matchLabels).every(([key, value]) => valueAt(labels, key) === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = valueAt(labels, key)
      switch (operator) {
        case 'In':
          return value !== undefined && values.includes(value)
        case 'NotIn':
          return value === undefined || !values.includes(value)
        case 'Exists':
          return value !== undefined
        case 'DoesNotExist':
          return value === undefined
      }
    })
  )
}

function valueAt(labels: Labels, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined
}
