// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { parse } from 'yaml'

/** Of undici the router needs the pool. The package's entry loads fetch, caches and mocks as well: 4 MB of memory. */
const undiciPool: Plugin = {
  name: 'undici-pool',
  setup(bundle) {
    bundle.onResolve({ filter: /^undici$/ }, ({ path }) => ({ path, namespace: 'pool' }))
    bundle.onLoad({ filter: /^/, namespace: 'pool' }, () => ({
      contents: "module.exports = { Pool: require('undici/lib/dispatcher/pool.js') }",
      resolveDir: process.cwd(),
    }))
  },
}

/**
 * OpenTelemetry as CommonJS, of which the bundle sees every `require`: its modules ask for gRPC by a function of that name, and
 * would get it from outside of the bundle, or not at all.
 */
const openTelemetryAsCommonJs: Plugin = {
  name: 'open-telemetry',
  setup(bundle) {
    const resolved = {}
    bundle.onResolve(
      { filter: /^@opentelemetry\// },
      ({ path, importer, resolveDir, pluginData }) =>
        pluginData === resolved
          ? undefined
          : bundle.resolve(path, {
              importer,
              resolveDir,
              kind: 'require-call',
              pluginData: resolved,
            }),
    )
  },
}

/**
 * Bundles the programs into `dist/bin/`: what `npx router` and `npx rpc-operator` run. One file and its lazy parts
 * start faster and need a third less memory than a few hundred modules; the sources run unbuilt as well. Each program
 * is built alone, so that the router's bundle never carries the Kubernetes client.
 * `dist/bin` is as deep as `proxy/cli`, so that paths to `specs/` hold in both.
 */
for (const [name, entry] of [
  ['router', 'proxy/main.ts'],
  ['rpc-operator', 'operator/main.ts'],
] as const) {
  const { metafile } = await build({
    metafile: true,
    entryPoints: { [name]: entry },
    plugins: name === 'router' ? [undiciPool, openTelemetryAsCommonJs] : [],
    outdir: 'dist/bin',
    outExtension: { '.js': '.mjs' },
    chunkNames: `${name}-[hash]`,
    bundle: true,
    splitting: true,
    platform: 'node',
    // Of React the console needs what is not for developing: a third of its size.
    define: { 'process.env.NODE_ENV': '"production"' },
    external: ['react-devtools-core'],
    target: 'node24',
    format: 'esm',
    legalComments: 'linked',
    // Source text stays in memory. Names are kept, so that stack traces can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'warning',
    // CommonJS packages in the bundle ask for Node's own modules by `require`.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  await writeFile(`dist/${name}.meta.json`, JSON.stringify(metafile))
}

await copyFile('proxy/cache-server/cache.proto', 'dist/bin/cache.proto')
await copyFile('proxy/console/router-page.html', 'dist/bin/router-page.html')

/** The chain specs as JSON beside the bundle: to read them from YAML is a fifth of the router's start. */
await rm('dist/specs', { recursive: true, force: true })
for (const name of await readdir('specs', { recursive: true })) {
  if (!name.endsWith('.yml')) continue
  const target = `dist/specs/${name.slice(0, -'.yml'.length)}.json`
  await mkdir(dirname(target), { recursive: true })
  const spec: unknown = parse(await readFile(`specs/${name}`, 'utf8'), { merge: true })
  await writeFile(target, JSON.stringify(spec))
}
