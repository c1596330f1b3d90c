// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Mutant } from './mutant.ts'

const relay = (file: string) => `proxy/relay/${file}.ts`

/** Mistakes in the checks of answers. */
export const checkMutants: readonly Mutant[] = [
  {
    name: 'a padded answer is not checked',
    file: relay('judge'),
    text: 'if (!goesOn) {',
    replacement:
      'if (!(body instanceof Uint8Array)) return { found: null, missedBlock, rest }\n    if (!goesOn) {',
  },
  {
    name: 'a long result is not checked at its head',
    file: relay('judge'),
    text: ' ?? result.checkBeginning()',
    replacement: '',
  },
  {
    name: 'a long result is checked at its head alone',
    file: relay('checked-stream'),
    text: 'known < chunk.length',
    replacement: 'false',
  },
  {
    name: 'the items of a long list are handed on and not compared',
    file: relay('integrity/abridged-result'),
    text: 'this.#window(this.#documentOf(this.#kept.subarray(0, this.#length)))',
    replacement: '',
  },
  {
    name: 'a long list forgets how many items have passed',
    file: relay('integrity/abridged-result'),
    text: '(this.#skipped.get(key) ?? 0) + list.items - 1',
    replacement: '0',
  },
  {
    name: 'what is still to come of a long result is taken for absent',
    file: relay('integrity/long-result'),
    text: 'isTold(check, part, this.#asked.block)',
    replacement: 'check !== null',
  },
  {
    name: 'a long number is cut to one that fits',
    file: relay('integrity/abridged-result'),
    text: "Buffer.from('true')",
    replacement: "Buffer.from('16')",
  },
  {
    name: 'the word of who changed its story outlives it',
    file: relay('integrity/block-memory'),
    text: 'for (const { tellers } of versions) tellers.delete(teller)',
    replacement: '',
  },
  {
    name: 'the first to tell of a block is right for ever',
    file: relay('integrity/block-memory'),
    text: 'versions.unshift(version)',
    replacement: 'versions.push(version)',
  },
  {
    name: 'what was said in passing has honest upstreams doubted',
    file: relay('integrity/block-memory'),
    text: 'parent === null ? others : others.filter((each) => each.parent !== null)',
    replacement: 'others',
  },
  {
    name: 'a lie is remembered before it is found out',
    file: relay('integrity/find-violation'),
    text: "['plain', 'hash', 'parent'] as const",
    replacement: "['hash', 'parent', 'plain'] as const",
  },
  {
    name: 'logs that were taken back are passed on',
    file: relay('integrity/logs'),
    text: 'bytes[removed] === 0x74',
    replacement: 'false',
  },
  {
    name: 'logs of one block may have two heights',
    file: relay('integrity/log-turns'),
    text: "if (this.#lastBlockHash.compared === 'same') {",
    replacement: 'if (false) {',
  },
  {
    name: 'what is pending must have its place',
    file: relay('integrity/identity'),
    text: 'if (!mayPend(asked)) return false',
    replacement: 'return false',
  },
  {
    name: 'what is in a block need not have its place',
    file: relay('integrity/identity'),
    text: 'if (!mayPend(asked)) return false\n',
    replacement: '',
  },
  {
    name: 'logs may be numbered anew in one transaction',
    file: relay('integrity/log-turns'),
    text: "return this.#indexIn === 'transaction' && this.#lastTransaction.isOver",
    replacement: "return this.#indexIn === 'transaction'",
  },
  {
    name: 'logs may be numbered anew on every chain',
    file: relay('integrity/log-turns'),
    text: "this.#indexIn === 'transaction' &&",
    replacement: '',
  },
  {
    name: 'logs may name any transaction',
    file: relay('integrity/log-turns'),
    text: 'if (!this.#lastTransaction.agrees)',
    replacement: 'if (false)',
  },
  {
    name: 'receipts may lose logs',
    file: relay('integrity/bloom'),
    text: 'bloomOf(members) === text',
    replacement: 'true',
  },
  {
    name: 'receipts may lose all logs',
    file: relay('integrity/bloom'),
    text: 'if (!cursor.next()) return violation',
    replacement: 'if (!cursor.next()) return null && violation',
  },
  {
    name: 'blocks may have uncles and withdrawals that their header has not',
    file: relay('integrity/root'),
    text: 'if (isEmpty === (digest === ofNone)) return null',
    replacement: 'if (!isEmpty || digest === ofNone) return null',
  },
  {
    name: 'blocks may lose all uncles',
    file: relay('integrity/root'),
    text: "certain: lenient !== (isEmpty ? 'empty' : 'listed')",
    replacement: 'certain: !isEmpty',
  },
  {
    name: 'who keeps another root beside no withdrawals lies',
    file: relay('integrity/root'),
    text: "certain: lenient !== (isEmpty ? 'empty' : 'listed')",
    replacement: 'certain: true',
  },
  {
    name: 'blocks may lose all transactions',
    file: relay('integrity/items'),
    text: '!(amount > 0)',
    replacement: 'true',
  },
  {
    name: 'transactions may be doubled',
    file: relay('integrity/items'),
    text: 'if (seen.has(hash))',
    replacement: 'if (false)',
  },
  {
    name: 'transactions may be doubled when they are whole',
    file: relay('integrity/items'),
    text: 'if (seen.has(own))',
    replacement: 'if (false)',
  },
  {
    name: 'hashes may stand where objects were asked for',
    file: relay('integrity/items'),
    text: 'if (!isHydrated)',
    replacement: 'if (!cursor.isObject)',
  },
  {
    name: 'each receipt may count its logs anew',
    file: relay('integrity/items'),
    text: 'asked, undefined, progress)',
    replacement: 'asked, undefined)',
  },
  {
    name: 'an object may say something else under a second name',
    file: relay('integrity/shape'),
    text: 'if (contradicts(bytes, own, other))',
    replacement: 'if (false)',
  },
  {
    name: 'an item of a list may say something else under a second name',
    file: relay('integrity/items'),
    text: 'if (contradicts(bytes, fields.span(own), fields.span(second)))',
    replacement: 'if (false)',
  },
  {
    name: 'a log may say something else under a second name',
    file: relay('integrity/logs'),
    text: 'if (contradicts(bytes, log.span(place.logIndex), log.span(place.index)))',
    replacement: 'if (false)',
  },
  {
    name: 'what is of an unknown type may say anything',
    file: relay('integrity/own-hash'),
    text: 'if (hash === null) return null\n  if (hasTwo',
    replacement:
      "if (hash === null || transactionDigest(document).form === 'type 127') return null\n  if (hasTwo",
  },
  {
    name: 'what is typed may tell a root in the place of its status',
    file: relay('integrity/receipt'),
    text: 'fields.holds(bytes, root) && !isTyped',
    replacement: 'fields.holds(bytes, root)',
  },
  {
    name: 'a fee history may be cut',
    file: relay('integrity/fee-history'),
    text: 'return mayPend(asked.block) ? null :',
    replacement: 'return mayPend(asked.block) || count > 0 ? null :',
  },
  {
    name: 'a fee history may have too few rewards',
    file: relay('integrity/fee-history'),
    text: 'if (count !== wanted.length)',
    replacement: 'if (count > wanted.length)',
  },
  {
    name: 'a fee history may hold anything',
    file: relay('integrity/fee-history'),
    text: '?? checkValues(document)',
    replacement: '',
  },
  {
    name: 'typed transactions may tell two parities',
    file: relay('integrity/own-hash'),
    text: 'if (hasTwoParities(document))',
    replacement: 'if (false)',
  },
  {
    name: 'members may be missing',
    file: relay('integrity/shape'),
    text: 'return isPending || plain !== shape',
    replacement: 'return true',
  },
  {
    name: 'a pending block must have a hash',
    file: relay('integrity/shape'),
    text: 'return isPending || plain !== shape',
    replacement: 'return plain !== shape',
  },
  {
    name: 'bloom filters may be of any size',
    file: relay('integrity/shape'),
    text: 'bloom: [512, 512]',
    replacement: 'bloom: [0, Infinity]',
  },
  {
    name: 'a method that always has an answer may say null',
    file: relay('integrity/find-violation'),
    text: "['sent', 'expected', 'logs', 'length', 'heights', 'digest']",
    replacement: "['sent', 'expected']",
  },
  {
    name: 'a member that is not there tells who asked for it nothing',
    file: relay('integrity/identity'),
    text: 'optional && isOtherForm(document, result)',
    replacement: 'optional',
  },
  {
    name: 'the logs of receipts are not looked at',
    file: relay('integrity/items'),
    text: 'if (rule.each !== null) return checkEach(rule, rule.each, document, cursor, asked)',
    replacement: 'if (rule.each !== null) return null',
  },
  {
    name: 'an answer without a height is a block',
    file: relay('integrity/block'),
    text: "asked.kind === 'tag' && asked.tag !== 'pending'",
    replacement: 'false',
  },
  {
    name: 'malformed answers pass below the full checks',
    file: relay('judge'),
    text: "integrity === 'off' && mayBeWhole(incoming.status)",
    replacement: "integrity !== 'full' && mayBeWhole(incoming.status)",
  },
  {
    name: 'an answer that is off the tip is the answer',
    file: relay('near-tip'),
    text: 'return own?.blocksOff ?? 0',
    replacement: 'return 0 * (own?.blocksOff ?? 0)',
  },
  {
    name: 'of two that are off the tip the farther is the answer',
    file: relay('telling'),
    text: 'best.blocksOff < failed.blocksOff',
    replacement: 'best.blocksOff > failed.blocksOff',
  },
  {
    name: 'a height that is told in passing makes as many doubt who told another',
    file: 'proxy/relay/integrity/block-memory.ts',
    text: 'lead < (parent === null ? 1 : 0)',
    replacement: 'lead < 0',
  },
  {
    name: 'of a list only the first block is compared with the memory',
    file: relay('integrity/parent'),
    text: 'isFirst || memory.knows(own)',
    replacement: 'isFirst',
  },
  {
    name: 'a header need not make its hash',
    file: relay('integrity/own-hash'),
    text: 'const digest = headerDigest(document)',
    replacement: 'const digest = { ...headerDigest(document), digest: hash }',
  },
  {
    name: 'a transaction need not make its hash',
    file: relay('integrity/own-hash'),
    text: "return compare('transaction-hash', hash, transactionDigest(document), teller, memory)",
    replacement:
      "return compare('transaction-hash', hash, { ...transactionDigest(document), digest: hash }, teller, memory)",
  },
  {
    name: 'there may be anything above the tip',
    file: 'proxy/upstream/heads.ts',
    text: 'if (tip === null || !isKnown) return null',
    replacement: 'return null',
  },
]
