// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino'
import { objectKey, refOf } from '../kube/object.ts'
import type { KubeObserver } from '../kube/observer.ts'

/** Creates the operator's logger, which writes JSON lines. */
export function createLogger(level: string, destination: DestinationStream): Logger {
  const options = {
    level,
    base: null,
    timestamp: stdTimeFunctions.isoTime,
    messageKey: 'msg',
    errorKey: 'error',
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: errorFields },
  }
  return pino(options, destination)
}

/** Reduces an error to code, message and cause, because other fields may contain secrets. */
function errorFields(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  const { cause } = error
  return {
    ...(typeof code === 'string' && { code }),
    message: error.message,
    ...(cause !== undefined && { cause: errorFields(cause) }),
  }
}

/** Logs what matters to operators. Each failure is logged once, here. */
export function logObserver(logger: Logger): KubeObserver {
  return {
    listed: (resource, objects) => logger.debug({ resource, objects }, 'Listed objects'),
    reflectFailed: (resource, verb, error, retryMs) =>
      logger.warn({ resource, verb, error, retryMs }, 'Watch failed and will be retried'),
    reconciled({ controller, key, reconcileId, result, durationMs, error }) {
      const { namespace, name } = refOf(key)
      const fields = { controller, namespace, name, reconcileID: reconcileId, result }
      if (error === undefined || result === 'stopped')
        logger.debug({ ...fields, durationMs }, 'Reconciled')
      else if (result === 'retry')
        logger.debug({ ...fields, error }, 'Reconcile failed and will be retried')
      else logger.error({ ...fields, error }, 'Reconcile failed')
    },
    leading: (isLeading) =>
      logger.info({ isLeading }, isLeading ? 'Became the leader' : 'Stopped leading'),
    waiting: (lease, leader) =>
      logger.info(
        { lease: objectKey(lease), leader },
        'Waiting for the lease: another operator leads',
      ),
    leaseFailed: (error) => logger.warn({ error }, 'Lease could not be acquired or renewed'),
    eventDropped: (reason, why, error) => logger.debug({ reason, why, error }, 'Event was dropped'),
  }
}

/** Combines several observers into one. */
export function combineObservers(...observers: readonly KubeObserver[]): KubeObserver {
  const names = new Set(observers.flatMap((observer) => Object.keys(observer)))
  const combined = [...names].map((name) => {
    const hooks = observers.flatMap((observer) => {
      const hook = observer[name as keyof KubeObserver] as
        ((...args: unknown[]) => void) | undefined
      return hook === undefined ? [] : [hook]
    })
    return [name, (...args: unknown[]) => hooks.forEach((hook) => hook(...args))] as const
  })
  return Object.fromEntries(combined)
}
