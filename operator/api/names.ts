// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { noPort, urlWithoutPort } from '../../proxy/config/fields/address.ts'
import { apiInterfaces } from '../../proxy/config/types.ts'
import { oneOf, type Rules, text } from './field.ts'
import type { z } from 'zod'

interface Options {
  readonly example: string
  readonly rules?: Rules
}

/** A chain's id or alias. */
export function chainId(description: string, options: Options): z.ZodString {
  return text(description, {
    ...options,
    max: 64,
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    must: 'chainId must be letters, digits, dots, dashes and underscores, such as ETH1',
  })
}

/** How clients and nodes speak. */
export function apiInterface(description: string, options: Options) {
  return oneOf(description, apiInterfaces, options)
}

/** The name of an upstream or of a group of them. */
export function label(name: string, description: string, options: Options): z.ZodString {
  return text(description, {
    ...options,
    max: 128,
    pattern: /^[!-+\--~]([ -+\--~]*[!-+\--~])?$/,
    must: `${name} must be printable ASCII without commas and outer spaces`,
  })
}

/** The name of an add-on, a verification or a method. */
export function word(name: string, description: string, example: string): z.ZodString {
  return text(description, {
    example,
    max: 128,
    pattern: /^[A-Za-z0-9_*][A-Za-z0-9_./*-]*$/,
    must: `${name} must be letters, digits, underscores, dots, slashes, dashes or *`,
  })
}

/** The name of an object in the same namespace. */
export function objectName(name: string, description: string, example?: string): z.ZodString {
  return text(description, {
    example,
    max: 253,
    pattern: /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
    must: `${name} must be the name of an object: lower-case letters, digits, dashes and dots`,
  })
}

/** A key of a Secret or a ConfigMap. */
export function dataKey(name: string, description: string, example?: string): z.ZodString {
  return text(description, {
    example,
    max: 253,
    pattern: /^[-._a-zA-Z0-9]+$/,
    must: `${name} must be a key of its data: letters, digits, dashes, underscores and dots`,
  })
}

/** The name of an image. */
export function image(description: string, example: string): z.ZodString {
  return text(description, {
    example,
    max: 512,
    pattern: /^[^\s]+$/,
    must: 'image must be the name of an image, without spaces',
  })
}

/** The name of an HTTP header. */
export function headerName(example: string, rules: Rules = {}): z.ZodString {
  return text('Name of the header.', {
    example,
    max: 256,
    pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
    must: 'name must be the name of an HTTP header',
    rules,
  })
}

/** Where a service listens, as `host:port`. */
export function hostAndPort(name: string, description: string, example: string): z.ZodString {
  return text(description, {
    example,
    max: 261,
    pattern: /^[^\s/@:]+:[0-9]{1,5}$/,
    must: `${name} must be host:port, such as redis.example.com:6379`,
    rules: hasPort(name, `:${noPort}$`),
  })
}

/** An http or https URL without credentials. */
export function httpUrl(name: string, description: string, example: string): z.ZodString {
  return text(description, {
    example,
    max: 2048,
    pattern: /^https?:\/\/[^\s@/]+(\/[^\s]*)?$/,
    must: `${name} must be an http or https URL without a user, a password and spaces`,
    rules: urlPort(name),
  })
}

/** The rule that a URL has a port that exists, or none. */
export function urlPort(name: string): Rules {
  return hasPort(name, `^${urlWithoutPort}`)
}

function hasPort(name: string, wrong: string): Rules {
  return { [`${name} must have a port from 1 to 65535`]: `!self.matches(r'${wrong}')` }
}
