// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Headers that belong to one connection and not to the call, in lower case (RFC 9110, 7.6.1). They
 * are neither passed on nor taken from a config.
 */
export const hopByHop = [
  'connection',
  'content-length',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
] as const
