// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { errorKinds } from '../../proxy/relay/errors.ts'

/** When each error of the router happens, and what to do, for `docs/reference/errors.md`. */
export const errorTexts: Readonly<Record<keyof typeof errorKinds, string>> = {
  parse: 'The request body is not JSON. Nothing was sent to an upstream.',
  invalidRequest: 'The request is JSON, but not a JSON-RPC call. Nothing was sent to an upstream.',
  tooLarge: 'The request body is longer than `--max-request-bytes`.',
  methodNotFound:
    'No node can have such a method: its name is empty, or the path of a gRPC call is not `/package.Service/Method`. Or it subscribes, by the spec or by its name (`*_subscribe`, `*_subscribeNewHeads`), to what the router cannot share out. Any other method that the spec does not name is relayed.',
  invalidParams: 'The parameters of a request to subscribe or unsubscribe make no sense.',
  noSuchSubscription: 'The connection has no subscription of this id or query.',
  alreadySubscribed:
    'The connection has a subscription to this query already. Tendermint RPC only.',
  needsWebSocket:
    'The method opens or ends a subscription, and the request came by HTTP, where no events can be sent later. Connect to the same address with `ws://`.',
  tooManySubscriptions:
    'The connection has as many subscriptions as `--websocket-max-subscriptions` allows: end one, or open another connection. Or all clients have as many different ones as `--subscription-max-topics` allows.',
  badHttp:
    'The bytes on the connection are no HTTP request, or the target of the request has bytes that must be percent-encoded. The connection is closed.',
  noSuchPath: 'The listener serves other paths than this; the message names them.',
  verbNotAllowed:
    'The path exists, but not for this HTTP method; `Allow` names those that it takes.',
  unsendable:
    'No node can be asked this: the target of the request is neither a path nor an `http://` URL, it has a `#` in it, its path has a `..` segment, or a header cannot be written. Nothing was sent to an upstream.',
  badDirective:
    'A header of the request is one that the router cannot follow: a number that is none, one header of cross-validation without the other, more matching answers than upstreams to ask, or cross-validation of a write, of a subscription, or of a method for which the operator forbids it. Nothing was sent to an upstream.',
  badGrpc:
    'The request breaks the rules of gRPC: it ends in the middle of a message, or has a `grpc-timeout` twice or one that is none.',
  slowRequest:
    'The client took too long to send its request. The connection is closed. Over gRPC: the request has not ended, and neither side sent anything for `--grpc-idle-timeout`.',
  unsupportedEncoding: 'The request has a `Content-Encoding` other than gzip.',
  contentType:
    'A page sent a POST without `Content-Type: application/json`, which browsers send without asking the server first. Nothing was sent to an upstream.',
  originNotAllowed:
    '`allowed-origins` does not list the origin of the page that sent the request or opens the WebSocket. Nothing was sent to an upstream.',
  headersTooLarge:
    'The request line and headers are longer than 16 KiB, or the metadata of a gRPC call is. An HTTP/1.1 connection is closed.',
  noUpstream:
    'No upstream may serve this call: none is left that is up, has a session free, declares the add-on and is not excluded by a directive.',
  rateLimited:
    'Every upstream that could serve this call is in cooldown: it answered 429, reported a spent quota, or gave a `Retry-After`. Nothing was sent; `Retry-After` says when the first of them is asked again.',
  filterNotFound:
    'The upstream that made the filter cannot be asked any more, and this replica did not make it, or cannot go on with it elsewhere. Make a new filter, as after the same error of a node: libraries do.',
  overloaded:
    'The router holds as many bytes of requests and answers as `--max-buffered-bytes` allows, or three quarters of that when the request is longer than 64 KiB. Nothing was sent to an upstream; `Retry-After` says when to ask again. Requests without a body are served.',
  breakerOpen:
    'Two calls in a row found no upstream. Calls fail at once until an upstream may be asked again.',
  upstreamFailed: 'Every attempt failed and no upstream gave an error to pass on.',
  integrity:
    'An upstream answered with what cannot be true, and no other one answered. The log has the evidence.',
  noAgreement: 'Cross-validation: upstreams answered, and no answer was given by enough of them.',
  insufficientResponses:
    'Cross-validation: fewer upstreams answered than must agree. The others failed, were too slow, or are in cooldown.',
  diversityUnmet: 'Cross-validation: the answers that match come from too few groups of upstreams.',
  groupQuorumUnmet:
    'Cross-validation: the answers that match come from enough groups, and too few from within them.',
  insufficientCapacity:
    'Cross-validation: there are fewer upstreams for this call than the policy demands. Nothing was sent to an upstream.',
  insufficientCapacityAsked:
    'Cross-validation: the headers ask for more matching answers than there are upstreams for this call, or than the policy allows. Nothing was sent to an upstream.',
  insufficientGroups:
    'Cross-validation: there are fewer groups of upstreams for this call than the policy demands. Nothing was sent to an upstream.',
  minBlock:
    'No upstream had the block of `rpc-min-block` within two block times. Nothing was sent to an upstream; ask again, or with a lower number.',
  timeout: 'The call used up its whole relay budget, or its last attempt used up its own.',
  sessionNode:
    'The request has `rpc-stickiness`, and the node of its session cannot serve it: it is down, in cooldown, full, lags, failed, or is not configured any more. No other node was asked. The session has no node now: ask again, and another is chosen.',
  sessionStore:
    'The request has `rpc-stickiness`, and the store that knows the node of its session does not answer. Nothing was sent to an upstream. Requests without the header are served.',
  internal: 'A defect of the router. The log has the details under the same guid.',
}
