// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** A reference to a variable, as the router's config writes it. */
export function placeholder(variable: string): string {
  return `\${${variable}}`
}

/** A user's text, so that the router reads it literally: `${` and `$<` in it are no placeholders. */
export function literal(text: string): string {
  return text.replaceAll(/\$(?=[{<])/g, '$$$$')
}
