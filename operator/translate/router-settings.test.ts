// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { settings } from '../../proxy/config/settings.ts'
import { settingSources } from './router-settings.ts'

/** Settings for which the spec has no equivalent field, with their source. */
const otherSources: Readonly<Record<string, string>> = {
  'use-static-spec': 'spec.specSources',
  'shared-state': 'spec.sharedState',
  'network-address': 'the endpoints of the spec',
  'env-file': 'the environment of the pods',
  'allowed-origins': 'the edge, where clients come in',
  'max-calls-per-connection': 'the default of the router',
  'grpc-idle-timeout': 'the default of the router',
  'admin-page': 'the default of the router',
  'admin-hosts': 'the default of the router',
  'max-buffered-bytes': 'the memory limit of the pods',
  'subscription-max-topics': 'the default of the router',
}

test('every setting of the router has a source in the spec', () => {
  const covered = new Set([...settingSources.map(({ key }) => key), ...Object.keys(otherSources)])
  expect(new Set(Object.keys(settings))).toEqual(covered)
})
