// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { noPort, urlWithoutPort } from '../../proxy/config/fields/address.ts'
import { apiInterfaces } from '../../proxy/config/types.ts'
import { type About, oneOf, type Rule, text } from './field.ts'
import type { z } from 'zod'

type RuledAbout = About & { readonly rules?: readonly Rule[] }

/** A chain's id or alias. */
export function chainId({ rules = [], ...about }: RuledAbout): z.ZodString {
  return text({
    ...about,
    max: 64,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    must: 'chainId must be letters, digits, dots, dashes and underscores, such as ETH1',
    rules,
  })
}

/** How clients and nodes speak. */
export function apiInterface(about: RuledAbout) {
  return oneOf(apiInterfaces, about)
}

/** The name of an upstream or of a group of them. */
export function label(name: string, { rules = [], ...about }: RuledAbout): z.ZodString {
  return text({
    ...about,
    max: 128,
    pattern: /^[!-+\--~]([ -+\--~]*[!-+\--~])?$/,
    must: `${name} must be printable ASCII without commas and outer spaces`,
    rules,
  })
}

/** The name of an add-on, a verification or a method. */
export function word(name: string, about: About): z.ZodString {
  return text({
    ...about,
    max: 128,
    pattern: /^[A-Za-z0-9_*][A-Za-z0-9_./*-]*$/,
    must: `${name} must be letters, digits, underscores, dots, slashes, dashes or *`,
  })
}

/** The name of an object in the same namespace. */
export function objectName(name: string, about: About): z.ZodString {
  return text({
    ...about,
    max: 253,
    pattern: /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    must: `${name} must be the name of an object: lower-case letters, digits, dashes and dots`,
  })
}

/** A key of a Secret or a ConfigMap. */
export function dataKey(name: string, about: About): z.ZodString {
  return text({
    ...about,
    max: 253,
    pattern: /^[-._a-zA-Z0-9]+$/,
    must: `${name} must be a key of its data: letters, digits, dashes, underscores and dots`,
  })
}

/** Where a service listens, as `host:port`. */
export function hostAndPort(name: string, about: About): z.ZodString {
  return text({
    ...about,
    max: 261,
    pattern: /^[^\s/@:]+:[0-9]{1,5}$/,
    must: `${name} must be host:port, such as redis.example.com:6379`,
    rules: [hasPort(name, `:${noPort}$`)],
  })
}

/** The rule that a URL has a port that exists, or none. */
export function urlPort(name: string): Rule {
  return hasPort(name, `^${urlWithoutPort}`)
}

function hasPort(name: string, wrong: string): Rule {
  return {
    rule: `!self.matches(r'${wrong}')`,
    message: `${name} must have a port from 1 to 65535`,
  }
}
