// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as limits from '../../proxy/bytes/limits.ts'
import { settings, type SettingName } from '../../proxy/config/settings.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/limits.md'), 'utf8')
/** Rows of tables, and paragraphs in one line. */
const blocks = page.split(/\n(?=\|)|\n\n/).map((block) => block.replace(/\s+/g, ' '))

function blockWith(text: string): string {
  const found = blocks.filter((block) => block.includes(text))
  expect(found, `what of limits.md has ${text}`).toHaveLength(1)
  return found[0]!
}

const words = new Map([
  [1 / 4, 'a quarter'],
  [1 / 2, 'half'],
  [3 / 4, 'three quarters'],
  [7 / 8, 'seven eighths'],
  [4, 'four'],
])

/** Formats a limit in the notation of the page. */
function figure(name: string, value: number): string {
  if (name.endsWith('MiB')) return `${value} MiB`
  if (/bytes$/i.test(name)) {
    if (value < 1024) return `${value} bytes`
    return value < 1024 ** 2 ? `${value / 1024} KiB` : `${value / 1024 ** 2} MiB`
  }
  if (name.endsWith('Ms')) return `${value / 1000} s`
  return words.get(value) ?? value.toLocaleString('en-US')
}

/** Every limit with its name, such as `clientLimits.tinyPieces.count`. */
function flat(values: object, prefix = ''): (readonly [string, number])[] {
  return Object.entries(values).flatMap(([name, value]: [string, number | object]) =>
    typeof value === 'number'
      ? [[prefix + name, value] as const]
      : flat(value, `${prefix}${name}.`),
  )
}

/** The texts of the page that contain each limit. */
const places: Readonly<Record<string, readonly string[]>> = {
  '`max-buffered-bytes`, of': [
    'budgetLimits.longShare',
    'budgetLimits.tightShare',
    'budgetLimits.shortBytes',
    'nodeLimits.tightBytes',
  ],
  'of these, what waits for clients': ['budgetLimits.waitingShare'],
  'of these, copies': ['budgetLimits.copyShare'],
  'inflation of a gzip body': ['clientLimits.inflation.bytes', 'clientLimits.inflation.ratio'],
  'bodies in tiny pieces': ['clientLimits.tinyPieces.count', 'clientLimits.tinyPieces.bytes'],
  'tiny frames of a gRPC stream': [
    'http2Limits.tinyPieces.count',
    'http2Limits.tinyPieces.bytes',
    'http2Limits.tinyPieces.inMs',
  ],
  'messages on a WebSocket': ['clientLimits.messagesAtOnce'],
  'head of a request': ['clientLimits.headBytes', 'clientLimits.headers'],
  'a collected answer': ['nodeLimits.collectedBytes', 'nodeLimits.tightBytes'],
  'an unread gRPC answer, buffered': [
    'http2Limits.streamWindowBytes',
    'http2Limits.nodeWindowBytes',
  ],
  'a group of joined batch items': ['nodeLimits.wholeBytes'],
  'events of a subscription whose': ['subscriptionLimits.earlyBytes'],
  'a gRPC request retained for retries': [
    'http2Limits.keptBytes',
    'http2Limits.streamWindowBytes',
    'http2Limits.clientWindowBytes',
  ],
  'metadata of a gRPC call': ['http2Limits.metadataBytes', 'http2Limits.clientSessionMiB'],
  'a fixed overhead per object': [
    'objectCosts.requestBytes',
    'objectCosts.headerBytes',
    'objectCosts.fragmentBytes',
    'objectCosts.pieceBytes',
    'objectCosts.subscriptionBytes',
  ],
  'fragments of a WebSocket': ['clientLimits.fragments.count', 'clientLimits.fragments.bytes'],
  'nesting of JSON': ['clientLimits.nesting'],
  'values in one member': ['clientLimits.values'],
  'open files that clients leave': ['fileLimits.share', 'fileLimits.most'],
  'of these, connections over HTTP': ['fileLimits.nodes'],
  'pipelined requests': ['clientLimits.waitingRequests'],
  'items of a batch': ['clientLimits.batchItems', 'clientLimits.waveItems'],
  'bytes of long requests': [
    'budgetLimits.turnBytes',
    'budgetLimits.pacedBytes',
    'budgetLimits.itemBytes',
  ],
  'time for a head': ['httpTimes.headersMs', 'httpTimes.requestMs', 'socketTimes.messageMs'],
  'an idle HTTP/1 connection': [
    'httpTimes.keepAliveMs',
    'httpTimes.announcedMs',
    'socketTimes.silentMs',
    'socketTimes.closeMs',
  ],
  'the first message of a unary': ['http2Limits.firstMessageMs', 'clientLimits.lingerMs'],
  'an answer that its client does not read': ['httpTimes.stalledMs'],
  'resets of HTTP/2': ['http2Limits.resets.count', 'http2Limits.resets.inMs'],
  'pings and settings': ['controlFrames.count', 'controlFrames.inMs'],
  'the last tenth of these topics': ['subscriptionLimits.fewTopics'],
  'concurrent requests for the logs': [
    'subscriptionLimits.questionsAtOnce',
    'subscriptionLimits.ownQuestions',
  ],
  'one gRPC connection': [
    'http2Limits.nodeResets',
    'http2Limits.nodeStreams',
    'http2Limits.nodeSessionMiB',
  ],
  'interim answers': ['nodeLimits.interims'],
  "a node's WebSocket": ['nodeLimits.messageBytes', 'nodeLimits.unsentBytes'],
  'inflation of an answer': ['nodeLimits.inflation.bytes', 'nodeLimits.inflation.ratio'],
  'a silent stream': ['nodeLimits.silentMs', 'nodeLimits.unreadBytes'],
  'WebSockets to one URL': ['nodeLimits.sockets'],
  'choices of sticky': ['rememberedLimits.sessions', 'rememberedLimits.droppedSessions'],
  'HTTP filters that survive': ['rememberedLimits.filters', 'rememberedLimits.criteriaBytes'],
  'transactions that a node': [
    'rememberedLimits.transactions',
    'rememberedLimits.transactionBytes',
  ],
  'A message has': ['cacheServiceLimits.messageBytes'],
  'The limits are 256 connections': [
    'adminLimits.maxConnections',
    'adminLimits.requestMs',
    'adminLimits.idleMs',
    'adminLimits.keepAliveMs',
    'adminLimits.maxHeaderBytes',
    'adminLimits.maxBodyBytes',
    'adminLimits.streams',
  ],
  '`/explain` retains': [
    'explainLimits.recent',
    'explainLimits.failed',
    'explainLimits.slow',
    'explainLimits.retried',
    'explainLimits.slowMs',
    'explainLimits.listed',
  ],
  'wait for the disk': ['recordLimits.bodyBytes', 'recordLimits.queuedBytes'],
}

test('limits.md has exactly the limits without a config key', () => {
  const bounds = new Map(flat(limits).filter(([name]) => !name.endsWith('.checkMs')))
  expect(new Set(Object.values(places).flat())).toEqual(new Set(bounds.keys()))
  for (const [text, names] of Object.entries(places))
    for (const name of names)
      expect(` ${blockWith(text)}`).toMatch(
        new RegExp(`[^\\d,.]${figure(name, bounds.get(name)!)}(?!\\d|,\\d)`),
      )
  const fixed = blocks.filter((block) => block.startsWith('|') && block.includes('(fixed)'))
  const isListed = (block: string) => Object.keys(places).some((text) => block.includes(text))
  expect(fixed.filter((block) => !isListed(block))).toEqual([])
})

test('limits.md has the defaults of settings', () => {
  const rows = blocks.filter((block) => block.startsWith('| `'))
  expect(rows.length).toBeGreaterThan(8)
  for (const row of rows) {
    const key = /`([^`]*)`/.exec(row)![1] as SettingName
    const text = settings[key].default
    if (text === null) continue
    const spaced = text.replace(/(?<=\d)(?=[A-Z])/, ' ').replace(/(?<=\d)m$/, ' min')
    const written = /^\d+$/.test(text) ? Number(text).toLocaleString('en-US') : spaced
    expect(row.split('|')[2]!.trim()).toBe(written)
  }
})
