// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import type { SettingName } from './settings.ts'

/** What was given on the command line, by setting: each value as written, in order. */
export type FlagValues = Readonly<Partial<Record<SettingName, readonly string[]>>>
