// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Who owns the fields of the objects of a router. */
export const fieldManager = 'rpc-router-operator'

/** Who owns the fields of statuses. */
export const statusManager = 'rpc-router-operator-status'

/** Who holds the count of replicas between us and an autoscaler. */
export const handoverManager = 'rpc-router-operator-handover'
