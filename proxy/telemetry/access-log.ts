// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { ApiInterface, Live } from '../config/types.ts'
import type { CallEnd, ListenerObserver } from '../listener/listener.ts'
import type { ErrorKind } from '../relay/errors.ts'
import { readStatus } from '../upstream/dialect.ts'
import { methodOf, outcomeOf } from './call-counters.ts'
import type { Logger } from './log.ts'
import { perListener } from './observers.ts'
import { clientFields } from './shown-client.ts'

/** Logs a line for each call, while the setting is on. */
export function createAccessLog(logger: Pick<Logger, 'info'>, isOn: Live<boolean>) {
  return {
    listenerObserver: perListener<Pick<ListenerObserver, 'callEnded' | 'requestRefused'>>(
      (labels) => ({
        callEnded(call, end, durationMs) {
          if (!isOn.now) return
          const body = end.kind === 'reply' ? end.reply.incoming.body : null
          logger.info('access', {
            ...labels,
            ...clientFields(call.client, call),
            guid: call.guid,
            method: methodOf(call),
            status: statusOf(end, labels.interface),
            outcome: outcomeOf(call, end),
            durationMs: Math.round(durationMs * 10) / 10,
            upstream: end.kind === 'reply' ? end.reply.upstream : undefined,
            bytes: body instanceof Uint8Array ? body.length : body?.passedBytes,
          })
        },
        requestRefused({ kind }, guid, client) {
          if (!isOn.now) return
          const status = statusOfError(kind, labels.interface)
          logger.info('access', {
            ...labels,
            ...clientFields(client),
            ...{ guid, status, outcome: kind.reason },
          })
        },
      }),
    ),
  }
}

/** The status that the client got, of HTTP or gRPC; undefined if it got none. */
function statusOf(end: CallEnd, of: ApiInterface): number | undefined {
  if (end.kind === 'error') return statusOfError(end.error.kind, of)
  if (end.kind !== 'reply') return end.kind === 'abandoned' ? undefined : 200
  const { incoming } = end.reply
  return of === 'grpc' ? readStatus(incoming)?.code : incoming.status
}

function statusOfError({ httpStatus, restStatus, grpcStatus }: ErrorKind, of: ApiInterface) {
  return of === 'grpc' ? grpcStatus : of === 'rest' ? restStatus : httpStatus
}
