// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { describe, expect, it, test } from 'vitest'
import { decide, type Rule, type Vote } from './vote.ts'

/** `Aa` is a vote of group A for answer a. */
function votes(text: string): Vote[] {
  return text
    .split(' ')
    .filter((each) => each !== '')
    .map(([group = '', answer = '']) => ({ group, answer }))
}

const plain: Rule = { agreement: 2, minGroups: 1, perGroupQuorum: 1 }

describe('a decision', () => {
  test.each<[string, string, Partial<Rule>, number, string]>([
    ['is agreed at the threshold', 'Aa Ba', {}, 1, 'a'],
    ['is open while another answer may get more votes', 'Aa Ba', {}, 3, 'open'],
    ['is agreed when another answer can at most draw', 'Aa Ba', {}, 2, 'a'],
    ['is never that of a minority', 'Aa Ba Cb Db Eb', {}, 0, 'b'],
    ['is the first of two answers in a draw', 'Aa Bb Cb Da', {}, 0, 'a'],
    ['in a draw is the answer that meets the rule', 'Aa Aa Bb Cb', { minGroups: 2 }, 0, 'b'],
    ['is open before the threshold', 'Aa', {}, 2, 'open'],
    ['fails when all differ', 'Aa Bb Cc', {}, 0, 'no-agreement'],
    ['fails without enough answers', 'Aa', {}, 0, 'insufficient-responses'],
    ['fails without any answer', '', { agreement: 1 }, 0, 'insufficient-responses'],
    ['waits for another group', 'Aa Aa', { minGroups: 2 }, 1, 'open'],
    ['fails without another group', 'Aa Aa Bb', { minGroups: 2 }, 0, 'diversity-unmet'],
    [
      'needs a quorum in each group',
      'Aa Aa Ba',
      { minGroups: 2, perGroupQuorum: 2 },
      0,
      'group-quorum-unmet',
    ],
    ['counts groups with a quorum', 'Aa Aa Ba Ba Cb', { minGroups: 2, perGroupQuorum: 2 }, 0, 'a'],
    [
      'is never a minority of more groups',
      'Aa Aa Aa Bb Cb',
      { minGroups: 2 },
      0,
      'diversity-unmet',
    ],
  ])('%s: %s', (_, text, rule, pending, expected) => {
    const decision = decide(votes(text), { ...plain, ...rule }, pending)
    const { failure, answer } = decision ?? { failure: 'open' }
    expect(failure ?? answer).toBe(expected)
  })

  it('waits for late votes only while the others do not agree', () => {
    expect(decide(votes('Aa Ba'), plain, 0, 3)).toEqual({ failure: null, answer: 'a' })
    expect(decide(votes('Aa Bb'), plain, 0, 1)).toBeNull()
  })
})

const groups = ['A', 'B', 'C']
const answers = ['a', 'b', 'c']
const cells = groups.flatMap((group) => answers.map((answer) => group + answer))

/** Every way in which up to `most` nodes of three groups give three answers, ignoring order. */
function* patterns(most: number, from = 0): Generator<string[]> {
  yield []
  if (most === 0) return
  for (let at = from; at < cells.length; at++)
    for (const rest of patterns(most - 1, at)) yield [cells[at] as string, ...rest]
}

function countOf(all: readonly Vote[], answer: string): number {
  return all.filter((vote) => vote.answer === answer).length
}

function meets(all: readonly Vote[], answer: string, rule: Rule): boolean {
  const own = all.filter((vote) => vote.answer === answer)
  const quorums = groups.filter(
    (group) => own.filter((vote) => vote.group === group).length >= rule.perGroupQuorum,
  )
  return own.length >= rule.agreement && quorums.length >= rule.minGroups
}

describe('over every pattern of up to 7 nodes and 3 groups, at every threshold', () => {
  const rules = [1, 2, 3, 4, 5, 6, 7].flatMap((agreement) =>
    [1, 2, 3].flatMap((minGroups) =>
      [1, 2, 3].map((perGroupQuorum) => ({ agreement, minGroups, perGroupQuorum })),
    ),
  )
  const all = [...patterns(7)].map((pattern) => votes(pattern.join(' ')))

  it('never returns the answer of a minority, and never fails where the policy is met', () => {
    for (const pattern of all) {
      const most = Math.max(...answers.map((each) => countOf(pattern, each)))
      const best = answers.filter((each) => countOf(pattern, each) === most)
      for (const rule of rules) {
        const decision = decide(pattern, rule, 0)
        const right = best.filter((each) => meets(pattern, each, rule))
        const { failure = 'open', answer } = decision ?? {}
        const isRight =
          right.length > 0
            ? failure === null && right.includes(answer ?? '')
            : failure !== null && failure !== 'open'
        if (!isRight) expect.fail(JSON.stringify({ pattern, rule, decision }))
      }
    }
    expect(all.length).toBeGreaterThan(10_000)
  })

  it('decides early only if later votes cannot outvote the answer', () => {
    const small = all.filter(({ length }) => length <= 5)
    let agreed = 0
    for (const pattern of small)
      for (let pending = 1; pending <= 7 - pattern.length; pending++)
        for (const rule of rules) {
          const decision = decide(pattern, rule, pending)
          if (decision === null) continue
          const { failure, answer } = decision
          if (failure !== null || answer === null)
            return expect.fail(JSON.stringify({ pattern, rule, decision }))
          const others = answers.filter((each) => each !== answer)
          const most = Math.max(...others.map((each) => countOf(pattern, each))) + pending
          const isSafe = countOf(pattern, answer) >= most && meets(pattern, answer, rule)
          if (!isSafe) expect.fail(JSON.stringify({ pattern, rule, pending, decision }))
          agreed += 1
        }
    expect(agreed).toBeGreaterThan(1_000)
  })
})
