// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** Where the pods find the ConfigMap with the config. */
export const configDirectory = '/etc/rpc-router/config'

/** Where the pods find files from Secrets. */
export const secretDirectory = '/etc/rpc-router/secrets'

/** Where the image has the bundled chain specs. */
export const bundledSpecs = '/usr/share/rpc-router/specs'

/** The key of our ConfigMap with the router's config. */
export const configFile = 'router.yml'

/** The port of metrics and probes. */
export const metricsPort = 7779
