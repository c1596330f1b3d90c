// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { Check } from '../../chain/check-rule.ts'
import type { Span } from '../../json/span.ts'
import { checkBlock } from './block.ts'
import type { HeightAsked } from './block-range.ts'
import type { BlockMemory } from './block-memory.ts'
import { checkBloom } from './bloom.ts'
import { checkContains } from './contains.ts'
import { checkExpected } from './expected.ts'
import { checkFeeHistory } from './fee-history.ts'
import { checkHashed } from './hashed.ts'
import { checkIdentity } from './identity.ts'
import { checkItems } from './items.ts'
import { checkHeights, checkLeast } from './heights.ts'
import { checkLength, checkLimit } from './length.ts'
import { checkLogs } from './logs.ts'
import { checkHeader, checkTransaction } from './own-hash.ts'
import { checkParent } from './parent.ts'
import { checkReceipt } from './receipt.ts'
import { checkRoot } from './root.ts'
import { checkSequence } from './sequence.ts'
import { checkShape } from './shape.ts'
import { ResultDocument } from './result-document.ts'
import { checkDigest, checkRaw, checkSent } from './transaction.ts'
import { shown } from './values.ts'
import { violation, type Violation } from './violation.ts'

/** What was asked, and of whom. */
export interface Asked extends HeightAsked {
  readonly checks: readonly Check[]
  readonly upstream: string
  /** Verifications that the operator switched off for the URL that was asked. */
  readonly skipVerifications: readonly string[]
}

/** Such a method has an answer to every request, so null is none. */
function refusesNull({ rule }: Check): boolean {
  if (rule.check === 'shape') return !rule.as.endsWith('?')
  if (rule.check === 'expected' && rule.optional) return false
  return ['sent', 'expected', 'logs', 'length', 'heights', 'digest'].includes(rule.check)
}

/**
 * The first thing in an answer that cannot be true; null when there is none. Null for a result is
 * no lie where the method may have nothing to show. `result` is the span of the result in a body that is known to be valid JSON.
 */
export function findViolation(
  bytes: Uint8Array,
  result: Span,
  asked: Asked,
  memory: BlockMemory,
): Violation | null {
  if (asked.checks.length === 0) return null
  return findViolationIn(new ResultDocument(bytes, result), asked, memory)
}

/** The same for a result, or for as much of it as is kept. */
export function findViolationIn(
  document: ResultDocument,
  asked: Asked,
  memory: BlockMemory,
): Violation | null {
  if (asked.checks.some(looksInto)) {
    const { twin } = document
    if (twin !== null) return violation('shape', `${shown(twin)} stands there in two spellings`)
  }
  const checks = document.isNull ? asked.checks.filter(refusesNull) : asked.checks
  // What is known to be a lie, or doubted already, leaves nothing in the memory.
  for (const turn of turns) {
    let doubt: Violation | null = null
    for (const check of checks) {
      const found = turnOf(check) === turn ? apply(check, document, asked, memory) : null
      if (found?.certain) return found
      doubt ??= found
    }
    if (doubt) return doubt
  }
  return null
}

/** Of other answers the names may be anybody's words. */
function looksInto({ rule }: Check): boolean {
  return rule.check !== 'expected' && (rule.check !== 'shape' || rule.members.size > 0)
}

/** What remembers comes last, and first of it what proves. */
const turns = ['plain', 'hash', 'parent'] as const

function turnOf({ rule }: Check): (typeof turns)[number] {
  if (rule.check === 'header' || rule.check === 'transaction') return 'hash'
  return rule.check === 'parent' ? 'parent' : 'plain'
}

function apply(
  { rule, wanted }: Check,
  document: ResultDocument,
  asked: Asked,
  memory: BlockMemory,
): Violation | null {
  const { block, upstream } = asked
  switch (rule.check) {
    case 'block':
      return checkBlock(rule, document, asked)
    case 'identity':
      return checkIdentity(rule, document, wanted, block)
    case 'length':
      return checkLength(rule, document, wanted)
    case 'limit':
      return checkLimit(rule, document, wanted)
    case 'least':
      return checkLeast(rule, document, wanted)
    case 'heights':
      return checkHeights(document, asked)
    case 'items':
      return checkItems(rule, document, block, wanted)
    case 'logs':
      return checkLogs(rule, document, wanted, asked)
    case 'parent':
      return checkParent(rule, document, asked, memory)
    case 'expected':
      return checkExpected(rule, document, wanted, asked)
    case 'sent':
      return checkSent(rule, document, wanted)
    case 'digest':
      return checkDigest(document, wanted)
    case 'raw':
      return checkRaw(rule, document, wanted)
    case 'bloom':
      return checkBloom(rule, document)
    case 'contains':
      return checkContains(rule, document, wanted)
    case 'sequence':
      return checkSequence(rule, document, wanted)
    case 'hashed':
      return checkHashed(rule, document)
    case 'shape':
      return checkShape(rule, document, block)
    case 'header':
      return checkHeader(rule, document, block, upstream, memory)
    case 'transaction':
      return checkTransaction(rule, document, upstream, memory.transactions)
    case 'receipt':
      return checkReceipt(rule, document, upstream, memory.outcomes)
    case 'root':
      return checkRoot(rule, document)
    case 'fee-history':
      return checkFeeHistory(rule, document, asked, wanted)
    case 'exists':
      return null
  }
}
