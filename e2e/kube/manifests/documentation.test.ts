// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { projectFiles, projectText } from '../../../scripts/law/project-files.ts'
import { kubectlFor, printed } from '../kubectl.ts'
import { useNamespace } from '../test-namespace.ts'

const { kubeconfig, namespace } = useNamespace()
const kubectl = kubectlFor(kubeconfig, namespace)

const manifests = projectFiles()
  .filter((path) => path.endsWith('.md'))
  .flatMap((path) =>
    [...projectText(path).matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
      .map(([, text = '']) => text)
      // Manifests, except those of third-party kinds.
      .filter((text) => /^apiVersion: (?!argoproj|keda|\w+\.toolkit)/m.test(text))
      .map((text) => [path, text] as const),
  )

test('the documentation has manifests', () => {
  expect(manifests.length).toBeGreaterThan(0)
})

test.each(manifests)('the API server accepts a manifest of %s', async (_, text) => {
  const output = await printed(kubectl(['apply', '--dry-run=server', '-f', '-'], text))
  expect(output).toContain('created (server dry run)')
})
