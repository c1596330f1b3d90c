// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { StoreError } from './store-error.ts'

const secret = 'hunter2-and-more'

test.each([
  ['MISCONF Redis is configured to save RDB snapshots', 'because it cannot save to its disk'],
  ["OOM command not allowed when used memory > 'maxmemory'.", 'it has no memory left (OOM)'],
  ['NOREPLICAS Not enough good replicas to write.', 'too few replicas are in step'],
  ["READONLY You can't write against a read only replica.", 'it is a replica'],
  ['LOADING Redis is loading the dataset in memory', 'it is loading its data (LOADING)'],
  ['NOAUTH Authentication required.', 'it requires a password (NOAUTH)'],
  [`WRONGPASS invalid username-password pair`, 'refuses the user name or the password'],
  ["NOPERM User joe has no permissions to run the 'set' command", 'its ACL denies'],
  ['ERR max number of clients reached', '(ERR max number of clients reached)'],
  ["CROSSSLOT Keys in request don't hash to the same slot", "don't hash to the same slot)"],
  [`ERR unknown command 'EVAL', with args beginning with: '${secret}'`, '(ERR unknown command)'],
  [`ERR limit of ${secret} reached: upgrade`, '(ERR limit of *** reached: upgrade)'],
])('%s', (message, words) => {
  const command = { name: 'auth', args: ['a', Buffer.from(secret)] }
  const error = Object.assign(new Error(message), { name: 'ReplyError', command })
  const { message: text } = StoreError.from(error)
  expect(text).toContain(words)
  expect(text).not.toContain(secret)
})
