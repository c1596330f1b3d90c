// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/*
 * Limits without a config key. `docs/reference/limits.md` describes each of them, and a test
 * compares the figures.
 */

const KiB = 1024
const MiB = 1024 * KiB

/** Shares of the process budget, `max-buffered-bytes`, and sizes related to it. */
export const budgetLimits = {
  shortBytes: 64 * KiB, // longest short body
  longShare: 3 / 4, // beyond this, only short requests are accepted, which leaves room for them
  tightShare: 1 / 2, // beyond this, answers stream, each with 64 KiB before it pauses
  turnBytes: 1 * MiB, // long work to begin per event-loop turn: about 10 ms
  pacedBytes: 16 * KiB, // longer answers, or chunks of answers, wait for their turn
  itemBytes: 32 * KiB, // share of a turn for each batch item
  copyShare: 1 / 4, // copies of streamed answers for the cache
  waitingShare: 1 / 2, // bytes that wait for clients; the rest is for active work
}

/** Shares of the file descriptors that are free once the process listens. */
export const fileLimits = {
  share: 1 / 2, // that clients leave to connections to nodes and everything else,
  most: 8_192, // but at most this many
  nodes: 7 / 8, // of which connections to nodes take no more than this
}

/** Heap cost of an object, in addition to its bytes. */
export const objectCosts = {
  requestBytes: 4 * KiB,
  headerBytes: 64,
  pieceBytes: 512, // per socket read, or per queued message
  fragmentBytes: 128, // per fragment of a WebSocket message
  subscriptionBytes: 2 * KiB,
}

/** Time limits of an HTTP/1 connection. */
export const httpTimes = {
  headersMs: 30_000, // to receive the head of a request
  requestMs: 60_000, // from the first byte of a request to the end of its body
  checkMs: 1_000, // interval between checks of both
  keepAliveMs: 75_000, // between requests: longer than common load balancers wait (60 s), so that they close first
  announcedMs: 15_000, // the idle time that answers announce: clients that heed it close first, also during a drain
  stalledMs: 60_000, // without reading any part of an answer; also for HTTP/2 and WebSocket
}

/** Limits on client requests. */
export const clientLimits = {
  headBytes: 16 * KiB,
  headers: 256, // per head or metadata; proxies usually accept 100
  waitingRequests: 1_024, // pipelined requests; Node reads 64 KiB at a time, and bodies lower the count
  tinyPieces: { count: 4_096, bytes: 64 }, // each costs a microsecond; no client sends this many shorter ones
  inflation: { bytes: 256 * KiB, ratio: 200 }, // the greater one applies: batches of similar calls reach a ratio of 100
  nesting: 10_000, // of JSON; Go nodes have the same limit
  values: 250_000, // per member of a request, or batch item: each costs 30 ns, and no client sends this many
  messagesAtOnce: 2_048, // WebSocket messages per read of 64 KiB: no client sends requests this short
  fragments: { count: 256, bytes: 1 * KiB }, // per WebSocket message, plus one per KiB: geth's client writes fragments of 1 KiB
  batchItems: 1_000, // a longer batch is refused
  waveItems: 100, // batch items in flight at the same time
  lingerMs: 2_000, // to read the rest of a request after a refusal or an early answer
}

/** Time limits of a client's WebSocket. */
export const socketTimes = {
  messageMs: 60_000, // from the start of a message to its end
  silentMs: 75_000, // without answering a ping
  closeMs: 5_000, // to answer a close frame, and to read the remaining messages
}

/** Pings, pongs and settings per HTTP/2 or WebSocket connection. Some clients ping a lot. */
export const controlFrames = { count: 300_000, inMs: 30_000 }

/** Limits of HTTP/2, with clients and with nodes. */
export const http2Limits = {
  metadataBytes: 16 * KiB, // per call; beyond this, some nodes end the whole connection
  streamWindowBytes: 256 * KiB, // buffered for a slow reader: 5 MB/s at a round trip of 50 ms
  clientWindowBytes: 16 * MiB, // per connection: one slow stream must not block the others
  nodeWindowBytes: 64 * MiB, // the same when all `nodeStreams` are unread
  keptBytes: 1.25 * MiB, // of a request, for replay: a transaction of 1 MiB, and its envelope
  firstMessageMs: 5_000, // how long a unary call waits for its first message
  clientSessionMiB: 64, // Node's memory per client connection, mostly headers
  tinyPieces: { count: 16_384, bytes: 64, inMs: 1_000 }, // DATA frames per client stream, beyond which it is cut off
  resets: { count: 256, inMs: 512 }, // twice the calls of a connection; a shared proxy cancels hundreds per second
  nodeSessionMiB: 512, // beyond this, Node resets streams: above `nodeStreams` times `keptBytes`
  nodeStreams: 256, // per connection, even if the node allows more
  nodeResets: 100, // then the router opens a new connection, before the node ends this one (Node allows 1,000)
}

/** Limits on node answers. */
export const nodeLimits = {
  collectedBytes: 1 * MiB, // longest answer to collect; longer ones stream
  tightBytes: 32 * KiB, // the same while the budget is tight
  unreadBytes: 64 * KiB, // per stream, before the node is paused
  wholeBytes: 16 * MiB, // for answers that are useless in part: a joined batch, a block's logs; no block is longer
  interims: 16, // interim responses (1xx) before the final one
  inflation: { bytes: 64 * MiB, ratio: 500 }, // beyond both, it is a decompression bomb
  silentMs: 30_000, // without data on an HTTP stream whose reader is waiting
  messageBytes: 64 * MiB, // per WebSocket message
  sockets: 100, // WebSockets per URL for calls, and as many for subscriptions
  unsentBytes: 16 * MiB, // beyond this, a WebSocket accepts no more requests
}

export const subscriptionLimits = {
  earlyBytes: 8 * MiB, // events before the client has its reply; far more than can arrive by then
  questionsAtOnce: 64, // in-flight requests for filters, which leaves room for client calls
  fewTopics: 10, // per client; beyond this, the last tenth of the topics is reserved for others
  ownQuestions: 4, // filters with separate requests per block; more filters share one request
}

/** Per-listener limits on remembered items; the oldest are evicted first. */
export const rememberedLimits = {
  sessions: 100_000, // sticky sessions per chain: about 20 MB
  droppedSessions: 10_000, // sessions whose node failed them
  filters: 1_000, // filters that move to another node when theirs dies
  criteriaBytes: 16 * KiB, // per filter
  transactions: 4_096, // transactions that a node accepted
  transactionBytes: 4 * KiB, // per answer: most are a hash of about 100 bytes
}

/** Limits on calls that `/explain` remembers, about a kilobyte each. The oldest go first. */
export const explainLimits = {
  recent: 2_000,
  failed: 1_000,
  slow: 1_000,
  retried: 1_000,
  slowMs: 1_000, // from the start of a call to its answer
  listed: 100, // per answer
}

/** Limits on data queued for a recording. */
export const recordLimits = {
  bodyBytes: 1 * MiB, // per request or answer: longer ones stream
  queuedBytes: 8 * MiB, // a few thousand calls: if the disk is slower than the traffic, the rest is lost
}

/** Limits of the cache service. */
export const cacheServiceLimits = {
  messageBytes: 17 * MiB, // a value of 16 MiB and its frame
}

/** Limits of the admin address, which serves few and small requests. */
export const adminLimits = {
  maxConnections: 256,
  requestMs: 10_000, // to receive a whole request
  idleMs: 10_000, // without progress, before the first answer or during one
  keepAliveMs: 75_000, // between requests: longer than usual scrape intervals (60 s), so that the scraper closes first
  checkMs: 1_000, // interval between checks of request times
  maxHeaderBytes: 8 * KiB,
  maxBodyBytes: 1 * KiB,
  streams: 16, // open live pages: each receives data about all upstreams once per second
}
