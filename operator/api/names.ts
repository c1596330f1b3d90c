// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { noPort, urlWithoutPort } from '../../proxy/config/fields/address.ts'
import { type ApiInterface, apiInterfaces } from '../../proxy/config/types.ts'
import { described } from './described.ts'
import { list, oneOf, type Rules, text } from './field.ts'
import type { z } from 'zod'

/** Defines a kind of string: its pattern, how messages describe it, and its rules. */
function form(max: number, pattern: RegExp, what: string, always: Rules = {}) {
  return (description: string, example?: string, rules: Rules = {}): z.ZodString =>
    text(description, {
      example,
      max,
      pattern,
      must: `{field} must be ${what}`,
      rules: { ...always, ...rules },
    })
}

export const chainId = form(
  64,
  /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  'letters, digits, dots, dashes and underscores, such as ETH1',
)

export function apiInterface(description: string, example: ApiInterface, rules: Rules = {}) {
  return oneOf(description, apiInterfaces, example, rules)
}

/** The name of an upstream or a group of upstreams. */
export const label = form(
  128,
  /^[!-+\--~]([ -+\--~]*[!-+\--~])?$/,
  'printable ASCII without commas and without spaces at the ends',
)

/** The name of an add-on or a verification. */
export const word = form(
  128,
  /^[A-Za-z0-9_*][A-Za-z0-9_./*-]*$/,
  'letters, digits, underscores, dots, slashes, dashes or *',
)

/** The name of a method in a chain spec; in REST, the path. */
export const method = form(
  256,
  /^[!-~]+$/,
  'the name of a method, or a path without its verb such as /blocks/{height}',
)

const methodPattern = form(
  200,
  /^[!-#%-~]+$/,
  'the name of a method, in which * matches any characters, without spaces and $',
)

/** `allowedMethods` and `deniedMethods`. @param section the config's, such as `endpoints` */
export function methodLists(section: string) {
  const patterns = (key: string, example: string) =>
    list(described(`${section}.${key}-methods`), methodPattern('A pattern.', example), {
      min: 1,
      max: 128,
      kind: 'set',
    }).optional()
  return {
    allowedMethods: patterns('allowed', 'eth_*'),
    deniedMethods: patterns('denied', 'debug_*'),
  }
}

/** The name of an object in the same namespace. */
export const objectName = form(
  253,
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
  'the name of an object: lower-case letters, digits, dashes and dots',
)

export const dataKey = form(
  253,
  /^[-._a-zA-Z0-9]+$/,
  'a key of its data: letters, digits, dashes, underscores and dots',
)

/** The first part, the registry, may have upper case and a port. */
export const image = form(
  512,
  /^([^\s/@]+\/)?[a-z0-9]+([/._-]+[a-z0-9]+)*(:\w[\w.-]{0,127})?(@\w+:[0-9a-f]{32,128})?$/,
  'the name of an image, such as registry.example.com/rpc-router:1.2.0, in lower case except for the tag',
)

export const headerName = form(256, /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'the name of an HTTP header')

/** The address of a service, as `host:port`. */
export const hostAndPort = form(
  261,
  /^[^\s/@:]+:[0-9]{1,5}$/,
  'host:port, such as redis.example.com:6379',
  hasPort(`:${noPort}$`),
)

/** Rule: a URL has a valid port or none. */
export const urlPort = hasPort(`^${urlWithoutPort}`)

/** An http or https URL without credentials. */
export const httpUrl = form(
  2048,
  /^https?:\/\/[^\s@/]+(\/[^\s]*)?$/,
  'an http or https URL without a user, a password and spaces',
  urlPort,
)

function hasPort(wrong: string): Rules {
  return { '{field} must have a port from 1 to 65535': `!self.matches(r'${wrong}')` }
}
