// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { releaseNotes } from './notes.ts'

const changelog = `# Changelog

## [Unreleased]

## [0.2.0] - 2027-01-31

### Added

- A thing.

## [0.1.0] - unreleased

- The first.
`

test('the section of a tag', () => {
  expect(releaseNotes('v0.2.0', changelog, { 'package.json': '0.2.0' })).toBe(
    '### Added\n\n- A thing.\n',
  )
})

test.each([
  ['0.2.0', {}, '0.2.0 is not a tag such as v0.1.0'],
  ['v0.2.0', { 'Chart.yaml': '0.1.0' }, 'Chart.yaml is 0.1.0, but the tag is v0.2.0'],
  ['v0.3.0', {}, 'CHANGELOG.md needs one section "## [0.3.0] - YYYY-MM-DD"'],
  ['v0.1.0', {}, 'the heading [0.1.0] in CHANGELOG.md needs the day of the release'],
])('%s with %o is refused', (tag, versions, message) => {
  expect(() => releaseNotes(tag, changelog, versions)).toThrow(message)
})
