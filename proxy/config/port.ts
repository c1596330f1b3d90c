// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Digits that are no port, 0 or more than 65535: a part of patterns, in the syntax that RE2 and JavaScript share. */
export const noPort =
  '(0+|0*([1-9][0-9]{5,}|[7-9][0-9]{4}|6[6-9][0-9]{3}|65[6-9][0-9]{2}|655[4-9][0-9]|6553[6-9]))'

/** The authority of a URL that ends with what is no port, from the scheme on. */
export const urlWithoutPort = `[a-z]+://[^/?]*:${noPort}([/?]|$)`

/** `host:port`. */
export const hostAndPortPattern = new RegExp(String.raw`^[^\s/@]+:(?!${noPort}$)[0-9]{1,5}$`)
