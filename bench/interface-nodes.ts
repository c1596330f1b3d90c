// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import {
  Server,
  ServerCredentials,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceDefinition,
} from '@grpc/grpc-js'
import { HubChain } from '../e2e/upstream-sim/chains/hub-chain.ts'
import { hubRestNode } from '../e2e/upstream-sim/chains/hub-rest.ts'
import { balanceAnswer, hubTendermintNode } from '../e2e/upstream-sim/chains/hub-tendermint.ts'
import { encode } from '../e2e/upstream-sim/chains/protobuf.ts'
import { serveNode } from '../e2e/upstream-sim/served-node.ts'
import { systemClock } from '../proxy/clock/clock.ts'

/*
 * A node of the hub chain in one process, with a port each for REST, Tendermint RPC and gRPC.
 *
 *   node bench/interface-nodes.ts <rest-port> <tendermint-port> <grpc-port>
 */

const [restPort = 0, tendermintPort = 0, grpcPort = 0] = process.argv.slice(2).map(Number)
const chain = new HubChain({ clock: systemClock })
await serveNode(() => hubRestNode(chain), { port: restPort })
await serveNode((faults) => hubTendermintNode(chain, faults), { port: tendermintPort })

const answers: Readonly<Record<string, () => Buffer>> = {
  '/cosmos.bank.v1beta1.Query/Balance': () => balanceAnswer,
  '/cosmos.base.tendermint.v1beta1.Service/GetLatestBlock': () =>
    encode({ 2: { 1: { 3: chain.head } } }),
  '/cosmos.base.tendermint.v1beta1.Service/GetNodeInfo': () =>
    encode({ 1: { 4: chain.network, 8: { 1: 'on' } } }),
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
      (_call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) => {
        done(null, answer())
      },
    ]),
  ),
)
server.bindAsync(`127.0.0.1:${grpcPort}`, ServerCredentials.createInsecure(), (error) => {
  if (error) throw error
})
