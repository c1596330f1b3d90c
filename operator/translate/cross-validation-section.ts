// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { CrossValidation } from '../api/cross-validation.ts'
import type { YamlMap } from './canonical-yaml.ts'

/** The `cross-validation` section of the config. */
export function crossValidationSection(
  crossValidation: CrossValidation | undefined,
  chainIdOf: (chainId: string) => string,
): YamlMap | undefined {
  return (
    crossValidation && {
      policies: crossValidation.policies.map((policy) => ({
        'chain-id': chainIdOf(policy.chainId),
        'api-interface': policy.apiInterface,
        method: policy.method,
        enabled: policy.enabled,
        'agreement-threshold': policy.agreementThreshold,
        'max-participants': policy.maxParticipants,
        'min-groups': policy.minGroups,
        'per-group-quorum': policy.perGroupQuorum,
        'forbid-caller-cv': policy.forbidCallers,
      })),
    }
  )
}
