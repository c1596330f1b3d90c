// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { posix } from 'node:path'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { projectFiles, projectText } from '../law/project-files.ts'

const schemaPath = 'examples/config.schema.json'
const accepts = new Ajv({ strict: false }).compile(JSON.parse(projectText(schemaPath)))
const configs = projectFiles().filter(
  (path) => /^examples\/.*\.yml$/.test(path) && /^direct-rpc:/m.test(projectText(path)),
)

test.each(configs)('%s names the schema for editors, and fits it', (path) => {
  const text = projectText(path)
  const [, named = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? []
  expect(posix.join(posix.dirname(path), named)).toBe(schemaPath)
  expect(accepts(parse(text)), JSON.stringify(accepts.errors)).toBe(true)
})
