// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { Scalar } from './yaml/scalar.ts'
import { settingNames, settings } from './settings.ts'

test.each(settingNames)('the default of %s is a valid value', (name) => {
  const { default: text, field } = settings[name]
  expect(text === null || field.safeParse(new Scalar(text)).success).toBe(true)
})
