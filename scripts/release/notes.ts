// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/** Where a version is written, and which one it is. */
export type Versions = Readonly<Record<string, unknown>>

/** The changelog's section for a tag. Throws if the tag or a version does not match. */
export function releaseNotes(tag: string, changelog: string, versions: Versions): string {
  const version = /^v(\d+\.\d+\.\d+(?:-[\w.]+)?)$/.exec(tag)?.[1]
  if (version === undefined) throw new Error(`${tag} is not a tag such as v0.1.0`)
  for (const [place, found] of Object.entries(versions))
    if (found !== version) throw new Error(`${place} is ${String(found)}, but the tag is ${tag}`)
  const [section, ...more] = changelog
    .split(/^## /m)
    .filter((part) => part.startsWith(`[${version}]`))
  if (section === undefined || more.length > 0)
    throw new Error(`CHANGELOG.md needs one section "## [${version}] - YYYY-MM-DD"`)
  const end = section.indexOf('\n')
  if (!/\] - \d{4}-\d\d-\d\d$/.test(section.slice(0, end)))
    throw new Error(`the heading [${version}] in CHANGELOG.md needs the day of the release`)
  return `${section.slice(end).trim()}\n`
}
