// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { z } from 'zod'
import { integer, object } from './field.ts'

const percent = (description: string, example: number) =>
  integer({ description, example, min: 1, max: 1000 })

/** How many replicas there are, by load. */
export const autoscaling = object(
  {
    minReplicas: integer({
      description: 'The least replicas.',
      example: 2,
      min: 1,
      max: 1000,
    }).default(2),
    maxReplicas: integer({ description: 'The most replicas.', example: 10, min: 1, max: 1000 }),
    targetCpuUtilizationPercent: percent(
      'Mean use of CPU to aim at, in percent of what the pods request. Unset, and no memory target either: 70.',
      70,
    ).optional(),
    targetMemoryUtilizationPercent: percent(
      'Mean use of memory to aim at, in percent of what the pods request. Unset: memory is not looked at.',
      80,
    ).optional(),
    scaleDownStabilizationSeconds: integer({
      description:
        'How long the load must have been low before a replica goes: each holds connections and sessions.',
      example: 300,
      min: 0,
      max: 3600,
    }).default(300),
  },
  {
    description: 'Makes a HorizontalPodAutoscaler, which then owns the count. Excludes replicas.',
    example: { minReplicas: 2, maxReplicas: 10, targetCpuUtilizationPercent: 70 },
    rules: [
      {
        rule: 'self.minReplicas <= self.maxReplicas',
        message: 'minReplicas must be at most maxReplicas',
        fieldPath: '.minReplicas',
      },
    ],
  },
)

export type Autoscaling = z.output<typeof autoscaling>
