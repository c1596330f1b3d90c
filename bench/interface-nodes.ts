// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { HubChain } from '../e2e/upstream-sim/chains/hubchain/chain.ts'
import { encode } from '../e2e/upstream-sim/chains/hubchain/protobuf.ts'
import { queryOf } from '../e2e/upstream-sim/chains/hubchain/queries.ts'
import { HubRestNode } from '../e2e/upstream-sim/chains/hubchain/rest-node.ts'
import { HubTendermintNode } from '../e2e/upstream-sim/chains/hubchain/tendermint-node.ts'
import { serveNode } from '../e2e/upstream-sim/chains/served-node.ts'
import { systemClock } from '../proxy/clock/system-clock.ts'

/*
 * A node of the hub chain in one process: REST, Tendermint RPC and gRPC, a port each.
 *
 *   node bench/interface-nodes.ts <rest-port> <tendermint-port> <grpc-port>
 */

const [restPort = 0, tendermintPort = 0, grpcPort = 0] = process.argv.slice(2).map(Number)
const chain = new HubChain({ clock: systemClock })
const rest = await serveNode((faults) => new HubRestNode(chain, faults), { port: restPort })
await serveNode((faults) => new HubTendermintNode(chain, faults), { port: tendermintPort })

const { view } = rest.node
const answers: Readonly<Record<string, (request: Buffer) => Buffer>> = {
  '/cosmos.bank.v1beta1.Query/Balance': (request) => {
    const query = queryOf('/cosmos.bank.v1beta1.Query/Balance')
    return query?.(view, request, view.head) ?? Buffer.alloc(0)
  },
  '/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock': () =>
    encode({ 2: encode({ 1: encode({ 3: view.head }) }) }),
  '/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo': () =>
    encode({ 1: encode({ 4: chain.network, 8: encode({ 1: 'on' }) }) }),
}
const same = (bytes: Buffer) => bytes
const asBytes = {
  ...{ requestSerialize: same, requestDeserialize: same },
  ...{ responseSerialize: same, responseDeserialize: same },
  ...{ requestStream: false, responseStream: false },
}
const paths = Object.keys(answers)
const service: ServiceDefinition = Object.fromEntries(
  paths.map((path) => [path, { path, ...asBytes }]),
)
const server = new Server()
server.addService(
  service,
  Object.fromEntries(
    Object.entries(answers).map(([path, answer]) => [
      path,
      ({ request }: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        done(null, answer(request))
      },
    ]),
  ),
)
server.bindAsync(`127.0.0.1:${grpcPort}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error
})
