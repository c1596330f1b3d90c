// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
export { siteConfig as default } from '../site-config.ts'
