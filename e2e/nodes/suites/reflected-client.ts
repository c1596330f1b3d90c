// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { credentials, loadPackageDefinition, type ServiceClientConstructor } from '@grpc/grpc-js'
import { fromJSON, loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader'

/** The service that tells of all others, as far as it is needed here. */
const reflection = fromJSON({
  nested: {
    grpc: {
      nested: {
        reflection: {
          nested: {
            v1alpha: {
              nested: {
                ServerReflection: {
                  methods: {
                    ServerReflectionInfo: {
                      requestType: 'Request',
                      requestStream: true,
                      responseType: 'Response',
                      responseStream: true,
                      comment: '',
                    },
                  },
                },
                Request: {
                  fields: { fileContainingSymbol: { type: 'string', id: 4 } },
                },
                Response: {
                  fields: { fileDescriptorResponse: { type: 'Files', id: 4 } },
                },
                Files: {
                  fields: {
                    fileDescriptorProto: { rule: 'repeated', type: 'bytes', id: 1 },
                  },
                },
              },
            },
          },
        },
      },
    },
  },
})

interface Response {
  readonly fileDescriptorResponse: { readonly fileDescriptorProto: readonly Buffer[] } | null
}

/**
 * A client class for a service of which nothing is known but its name: a stream of the server's own
 * reflection tells the rest.
 */
export async function reflectService(
  address: string,
  service: string,
): Promise<ServiceClientConstructor> {
  const Reflection = classOf(reflection, 'grpc.reflection.v1alpha.ServerReflection')
  const client = new Reflection(address, credentials.createInsecure())
  try {
    const stream = client['ServerReflectionInfo']!() as ReturnType<
      typeof client.makeBidiStreamRequest<object, Response>
    >
    stream.write({ fileContainingSymbol: service })
    stream.end()
    const files: Buffer[] = []
    for await (const { fileDescriptorResponse } of stream as AsyncIterable<Response>)
      files.push(...(fileDescriptorResponse?.fileDescriptorProto ?? []))
    const set = Buffer.concat(
      files.flatMap((file) => [Buffer.from([0x0a]), varint(file.length), file]),
    )
    return classOf(loadFileDescriptorSetFromBuffer(set, { keepCase: true }), service)
  } finally {
    client.close()
  }
}

function classOf(
  definition: Parameters<typeof loadPackageDefinition>[0],
  service: string,
): ServiceClientConstructor {
  const found = service
    .split('.')
    .reduce<unknown>(
      (all, name) => (all as Record<string, unknown> | undefined)?.[name],
      loadPackageDefinition(definition),
    )
  if (typeof found !== 'function') throw new Error(`${service} is not described`)
  return found as ServiceClientConstructor
}

function varint(value: number): Buffer {
  const bytes = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}
