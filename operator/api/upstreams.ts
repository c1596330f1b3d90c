// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { settings } from '../../proxy/config/settings.ts'
import { integer, object } from './field.ts'
import { duration } from './quantity.ts'

/** How the router treats its upstreams. The defaults are the router's own. */
export const upstreamSettings = object(
  {
    maxSessionsPerProvider: integer({
      description: 'Calls at once to one upstream; then it is full, not failed.',
      example: 1000,
      min: 1,
      max: 1_000_000,
    }).default(Number(settings['max-sessions-per-provider'].default)),
    failureThreshold: integer({
      description: 'Failures in a row that disable an upstream.',
      example: 5,
      min: 1,
      max: 1_000_000,
    }).default(Number(settings['upstream-failure-threshold'].default)),
    epochDuration: duration({
      name: 'epochDuration',
      description:
        'Length of an epoch. At its end disabled upstreams are tried again; a sticky session lives two epochs.',
      example: '15m',
      min: '1s',
      max: '24h',
    }).default(settings['epoch-duration'].default),
    healthCheckInterval: duration({
      name: 'healthCheckInterval',
      description: 'Time between two checks of an upstream.',
      example: '5m',
      min: '100ms',
      max: '24h',
    }).default(settings['health-check-interval'].default),
    livenessProbeInterval: duration({
      name: 'livenessProbeInterval',
      description: 'Time between two light probes, which run between health checks. Unset: none.',
      example: '5s',
      min: '100ms',
      max: '24h',
    }).optional(),
  },
  {
    description: 'How upstreams are checked and taken out.',
    example: { failureThreshold: 5, livenessProbeInterval: '5s' },
  },
)
