// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * The bounds that have no key in the config, once. `docs/reference/limits.md` says what happens beyond each; a
 * test compares the figures.
 */

const KiB = 1024
const MiB = 1024 * KiB

/** Of the budget of the process, `max-buffered-bytes`. */
export const budgetLimits = {
  shortBytes: 64 * KiB, // a body up to this is short
  longShare: 3 / 4, // from here on only short requests are taken, so that a few long ones do not shut out everybody
  tightShare: 1 / 2, // from here on answers stream: many may come at once, each with 64 KiB before it is paused
  turnBytes: 1 * MiB, // of long work begun in one turn of the event loop: some 10 ms
  pacedBytes: 16 * KiB, // an answer, or a piece of one, that is longer takes its turn
  itemBytes: 32 * KiB, // of a turn, for each item of a batch
  copyShare: 1 / 4, // copies of answers that stream to clients, to keep them
  waitingShare: 1 / 2, // what waits for clients leaves the rest to what is being worked on
}

/** Heap cost of an object, in addition to its bytes. */
export const objectCosts = {
  requestBytes: 4 * KiB,
  headerBytes: 64,
  pieceBytes: 512, // of one socket read, or of a waiting message
  fragmentBytes: 128, // of a WebSocket message
  subscriptionBytes: 2 * KiB,
}

/** Of an HTTP/1 connection. */
export const httpTimes = {
  headersMs: 30_000, // for the head of a request
  requestMs: 60_000, // from its first byte to the last of its body
  checkMs: 1_000, // how often both are checked
  keepAliveMs: 75_000, // between requests: longer than with common load balancers (60 s), so that they close first
  stalledMs: 60_000, // nothing of the answer was read; also over HTTP/2 and WebSocket
}

/** Of what a client sends. */
export const clientLimits = {
  headBytes: 16 * KiB,
  headers: 256, // in one head or metadata; proxies usually accept 100
  waitingRequests: 1_024, // that are pipelined: Node reads 64 KiB at once, and with bodies they are fewer
  tinyPieces: { count: 4_096, bytes: 64 }, // each costs a microsecond: no client sends so many that are shorter
  inflation: { bytes: 256 * KiB, ratio: 200 }, // whichever is more: batches of like calls reach 100 times
  nesting: 10_000, // of JSON; nodes written in Go have the same limit
  values: 250_000, // in one member of a request or item of a batch: each costs some 30 ns, and no client sends so many
  messagesAtOnce: 2_048, // of a WebSocket, in one read of 64 KiB: no client sends requests this short
  fragments: { count: 256, bytes: 1 * KiB }, // of a WebSocket message, plus one per KiB: geth's client writes fragments of 1 KiB
  batchItems: 1_000, // more of them in one batch are refused together
  waveItems: 100, // of one batch that are asked for at the same time
  lingerMs: 2_000, // after a refusal or an early answer, for the rest of the request
}

/** Of a client's WebSocket. */
export const socketTimes = {
  messageMs: 60_000, // from the beginning of a message to its end, as with a body
  silentMs: 75_000, // without an answer to a ping
  closeMs: 5_000, // for the answer to a goodbye, and to read what is left
}

/** Pings, pongs and settings on one HTTP/2 or WebSocket connection. Some clients measure each round trip with a ping. */
export const controlFrames = { count: 300_000, inMs: 30_000 }

/** Of HTTP/2, with clients and with nodes. */
export const http2Limits = {
  metadataBytes: 16 * KiB, // names and values of a call; for more than this some nodes end the whole connection
  streamWindowBytes: 256 * KiB, // held for a reader that does not read: 5 MB a second from 50 ms away
  clientWindowBytes: 16 * MiB, // of a connection: one slow stream must not hold up the others
  nodeWindowBytes: 64 * MiB, // the same where nobody reads any of its `nodeStreams`
  keptBytes: 1.25 * MiB, // of a request, to send it again: a transaction of a mebibyte, and its envelope
  firstMessageMs: 5_000, // a unary call waits for its first message
  clientSessionMiB: 64, // what Node may keep for one connection of a client, mostly headers
  tinyPieces: { count: 16_384, bytes: 64, inMs: 1_000 }, // DATA frames of one client stream: cutting it off is cheaper than reading them
  resets: { count: 256, inMs: 512 }, // twice the calls of a connection; a proxy before many clients cancels hundreds a second
  nodeSessionMiB: 512, // past it Node resets streams: more than all of a connection have waiting, `keptBytes` each
  nodeStreams: 256, // of one connection, also where the node would allow more
  nodeResets: 100, // then a new connection: nodes end one on which clients reset too many (Node counts to 1,000)
}

/** Of what a node answers. */
export const nodeLimits = {
  collectedBytes: 1 * MiB, // a longer answer streams
  tightBytes: 32 * KiB, // so does one over this while the budget is tight
  unreadBytes: 64 * KiB, // of a stream, before the node is paused
  wholeBytes: 16 * MiB, // of what only can be used whole: a joined batch, logs of a block; no block is longer
  interims: 16, // answers (1xx) before the answer itself
  inflation: { bytes: 64 * MiB, ratio: 500 }, // what is over both is a bomb
  silentMs: 30_000, // of an HTTP stream whose reader waits
  messageBytes: 64 * MiB, // of a WebSocket
  sockets: 100, // WebSockets of one URL for calls, and as many for subscriptions
  unsentBytes: 16 * MiB, // beyond it a WebSocket takes no more requests
}

export const subscriptionLimits = {
  earlyBytes: 8 * MiB, // events before the client has its reply; far more than can come in that time
  questionsAtOnce: 64, // a thousand filters have a thousand questions a block: the calls of clients must find room
  fewTopics: 10, // of a client; beyond this count, the last tenth of the topics is closed to it
  ownQuestions: 4, // beyond so many, filters share one question about each block
}

/** Of what is remembered, of each listener; the oldest goes first. */
export const rememberedLimits = {
  sessions: 100_000, // sticky ones, of a chain: some 20 MB
  droppedSessions: 10_000, // whose node failed them
  filters: 1_000, // that go on elsewhere when their node dies
  criteriaBytes: 16 * KiB, // of one of them
  transactions: 4_096, // that a node accepted
  transactionBytes: 4 * KiB, // of its answer: most are a hash of some 100 bytes
}

/** Of the calls that `/explain` knows; each takes a kilobyte, and some 150 bytes for each upstream it chose from. The oldest goes first. */
export const explainLimits = {
  recent: 2_000,
  failed: 1_000,
  slow: 1_000,
  slowMs: 1_000, // from its beginning to its answer
  listed: 100, // in one answer
}

/** Of what waits to be written to a recording. */
export const recordLimits = {
  bodyBytes: 1 * MiB, // of a request or an answer: those that are longer stream
  queuedBytes: 8 * MiB, // some thousand calls: a disk that is slower than the traffic loses the rest
}

/** Of the cache service. */
export const cacheServiceLimits = {
  messageBytes: 17 * MiB, // a value of 16 MiB and its frame
  unreadBytes: 64 * MiB, // announcements that wait for all watchers: then the slowest has to watch again
}

/** Of the admin address: few ask here, and nothing large. */
export const adminLimits = {
  maxConnections: 256,
  requestMs: 10_000, // for the whole of a request
  idleMs: 10_000, // nothing moves, before the first answer or in one
  keepAliveMs: 75_000, // between requests: longer than the usual scrape interval (60 s), so that the scraper closes first
  checkMs: 1_000, // how often the time of requests is checked
  maxHeaderBytes: 8 * KiB,
  maxBodyBytes: 1 * KiB,
  streams: 16, // open pages that are kept up to date: each is sent all upstreams once a second
}
