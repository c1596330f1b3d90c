// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { compileFailures } from './compile-failures.ts'
import { failureFileSchema } from './schema.ts'

const tableOf = (name: string) => {
  const url = new URL(`../../../specs/failures/${name}.yml`, import.meta.url)
  return failureFileSchema.parse(parse(readFileSync(url, 'utf8')))
}
const evm = compileFailures([tableOf('evm'), tableOf('common')])

/** As providers and clients write it. */
test.each([
  [
    -32600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x1180fca, 0x1180fd3]. Upgrade to PAYG for expanded block range.',
    'blocks',
    10,
  ],
  [
    -32600,
    'You can make eth_getLogs requests with up to a 500 block range. Based on your parameters, this block range should work: [0x1a30dfd, 0x1a30ff0]',
    'blocks',
    500,
  ],
  [
    -32602,
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range and no limit on the response size, or you can request any block range with a cap of 10K logs in the response. Based on your parameters and the response size limit, this block range should work: [0xc5dc00, 0xc5dc63]',
    'results',
    100,
  ],
  [
    -32000,
    'Query timeout exceeded. Consider reducing your block range. Based on your parameters and the response size limit, this block range should work: [0x5223c98, 0x5223e80]',
    'results',
    489,
  ],
  [
    -32005,
    'query returned more than 10000 results. Try with this block range [0xCB3D, 0xCB6D].',
    'results',
    49,
  ],
  [-32005, 'query returned more than 10000 results', 'results', null],
  [-32602, 'range 1000000 exceeds limit of 10000', 'blocks', 10_000],
  [
    -32602,
    'query exceeds max results 20000, retry with the range 24383075-24383096',
    'results',
    22,
  ],
  [-32602, 'query exceeds max block range 100000', 'blocks', 100_000],
  [-32602, 'exceed maximum block range: 5000', 'blocks', 5_000],
  [-32701, 'exceed maximum block range: 50000', 'blocks', 50_000],
  [-32614, 'eth_getLogs is limited to a 10,000 range', 'blocks', 10_000],
  [-32602, 'eth_getLogs is limited to 0 - 50 blocks range', 'blocks', 50],
  [-32602, 'eth_getLogs is limited to 0 - 10000 blocks range', 'blocks', 10_000],
  [-32602, 'eth_getLogs is limited to a 10000 block range', 'blocks', 10_000],
  [-32614, 'eth_getLogs is limited to a 5 block range', 'blocks', 5],
  [-32000, 'block range is too wide', 'blocks', null],
  [-32603, 'block range is too wide (maximum 1024)', 'blocks', 1_024],
  [-32000, 'too wide blocks range, the limit is 100', 'blocks', 100],
  [-32000, 'requested too many blocks from 0 to 16777216, maximum is set to 2048', 'blocks', 2_048],
  [
    -32000,
    'block range is larger than max block range, block range = 5120, max block range = 5000',
    'blocks',
    5_000,
  ],
  [35, 'ranges over 10000 blocks are not supported on freetier', 'blocks', 10_000],
  [-32602, 'query block range exceeds server limit, narrow your filter: 1000', 'blocks', 1_000],
  [-32005, 'Requested range exceeds maximum RPC range limit', 'blocks', null],
  [-32600, 'block range too high', 'blocks', null],
  [-32000, 'max block range 2000', 'blocks', 2_000],
  [
    -32005,
    'Log response size exceeded. Maximum allowed number of requested blocks is 1000',
    'results',
    1_000,
  ],
  [-32000, 'block range greater than 2048 max', 'blocks', 2_048],
  [-32012, 'requested range too large', 'blocks', null],
  [-32005, 'Too many logs requested. Max logs per response is 20000.', 'results', null],
  [-32008, 'Response is too big', 'results', null],
  [-32005, 'query timeout exceeded', 'work', null],
  [-32602, 'block range exceeds 10000', 'blocks', 10_000],
  [-32000, 'eth_getLogs block range limit of 3,000 exceeded', 'blocks', 3_000],
  [-32000, 'maximum [from, to] blocks distance: 1000', 'blocks', 1_000],
  [-32000, 'The range is too wide: at most 800 blocks', 'blocks', 800],
  [-32047, "'fromBlock'-'toBlock' range too large. Max range: 800", 'blocks', 800],
  [-32005, 'block range too large, range: 33636, max: 3500', 'blocks', 3_500],
  [-32602, 'invalid params: range 90000 is bigger than range limit 2000', 'blocks', 2_000],
  [-32000, 'block range is bigger than maxBlockRange', 'blocks', null],
  [-32602, 'Block range limit exceeded. See limits#evm-range-limits', 'blocks', null],
  [-32600, 'exceeds the range allowed for your plan (5000 > 3000)', 'blocks', 3_000],
  [-32602, 'please limit the query to at most 1000 blocks', 'blocks', 1_000],
  [-32000, 'block range too large (2000), maximum allowed is 1000 blocks', 'blocks', 1_000],
  [-32614, 'eth_getLogs range is too large, max is 10k blocks', 'blocks', 10_000],
  [-32000, 'query must be smaller than size 1024', 'blocks', 1_024],
  [-32005, 'In eth_getLogs and klay_getLogs, the block range is limited to 2000.', 'blocks', 2_000],
  [-32005, 'block range is too large, try 25700000-25700001', 'blocks', 2],
  [-32701, 'exceed max block range params 100', 'blocks', 100],
  [-32001, 'Block range exceeds maximum allowed range of 1024 blocks', 'blocks', 1_024],
  [-32000, 'too many blocks requested, maximum 2000', 'blocks', 2_000],
  [-32602, 'toBlock - fromBlock must be less than 1000', 'blocks', 1_000],
  [-32602, 'Cannot request logs over more than 100 blocks', 'blocks', 100],
  [-32602, 'Invalid block range: the range must not exceed 1000 blocks', 'blocks', 1_000],
  [-32000, 'Range of blocks is too big: 20000. Max allowed: 1000', 'blocks', 1_000],
  [-32602, 'maximum number of blocks is 5000', 'blocks', 5_000],
  [-32602, 'query spans more than 10000 blocks', 'blocks', 10_000],
  [-32000, 'blocks requested: 20000 (max. 2048)', 'blocks', 2_048],
  [-32602, 'range of blocks must not be above 2000', 'blocks', 2_000],
  [-32602, '9000 blocks is more than you may scan (2000)', 'blocks', 2_000],
  [-32602, 'Blockrange is capped at 2000', 'blocks', 2_000],
  [-32602, 'span must be within 2000 blocks', 'blocks', 2_000],
  [-32602, 'Please use a smaller range, e.g. 2000 blocks', 'blocks', 2_000],
  [-32602, 'spanning more blocks than 2000 needs a paid plan', 'blocks', 2_000],
  [-32000, 'block interval too big', 'blocks', null],
  [-32000, 'eth_getLogs range unsupported', 'blocks', null],
  [-32602, 'number of blocks to scan: 9000. permitted: 2000', 'blocks', 2_000],
  [-32602, 'difference between toBlock and fromBlock must be under 10', 'blocks', 10],
  [-32603, 'window > 2000 blocks', 'blocks', 2_000],
  [-32000, 'logs matched by query exceeds limit of 10000', 'results', 10_000],
  [-32000, 'More than 50000 logs returned', 'results', null],
  [-32000, 'response size should not greater than 10000000 bytes', 'results', null],
  [-32020, 'backend response too large', 'results', null],
  [-32005, 'limit exceeded', 'work', null],
  [-32005, 'block range too large, max range: 1000', 'blocks', 1_000],
  [-32005, 'query returned more than 1000 results', 'results', null],
  [-32005, 'logs.range_too_large', 'blocks', null],
  [-32005, 'logs.too_many_results', 'results', null],
  [-32000, 'too many results: query returned more than 10000 logs', 'results', null],
  [-32002, 'request timed out', 'work', null],
  [-32000, '408 Request Timed Out', 'work', null],
  [-32603, 'timeout of 30000ms exceeded', 'work', null],
  [-32603, 'query timed out', 'work', null],
  [-32000, 'context deadline exceeded', 'work', null],
  [-32603, 'Query timeout limit exceeded', 'work', null],
  [-32603, 'request took too long to process', 'work', null],
  [-32000, 'allowed block range threshold exceeded', 'blocks', null],
  [-32012, 'request exceeded max allowed range: 30000', 'blocks', 30_000],
  [-32000, 'range threshold exceeded', 'blocks', null],
  [-32614, 'eth_getLogs is limited to a 100 range', 'blocks', 100],
  [-32614, 'eth_getLogs range is too large, max is 1k blocks', 'blocks', 1_000],
  [-32600, 'exceed max block range: 5000', 'blocks', 5_000],
  [-32602, 'eth_getLogs is limited to 1024 block range', 'blocks', 1_024],
  [-32602, 'eth_getLogs block span 20000 exceeds the limit 5000', 'blocks', 5_000],
  [-32602, 'Exceeded max range limit for eth_getLogs: 10000', 'blocks', 10_000],
  [-32000, 'cannot query more than 2048 blocks at once', 'blocks', 2_048],
  [-32602, 'Please reduce the block range', 'blocks', null],
  [-32602, 'Please narrow your query: block span is 20000, allowed is 1000', 'blocks', 1_000],
  [-32603, 'Block range exceeded: fromBlock - toBlock > 2000', 'blocks', 2_000],
  [-32602, 'maxBlockRange of 1000 exceeded', 'blocks', 1_000],
  [-32600, 'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range', 'blocks', 10_000],
  [-32003, 'Response exceeded maximum size of 10485760 bytes', 'results', null],
  [-32000, 'response size exceeded the limit of 30 MB', 'results', null],
  [-32000, 'The result is too large, please narrow the filter', 'results', null],
  [-32000, 'result set too large', 'results', null],
  [-32602, 'query exceeds limit 10000', 'results', 10_000],
  [-32000, 'Too many logs to return, limit: 10000', 'results', 10_000],
  [-32000, 'number of logs exceeds limit 10000', 'results', 10_000],
  [-32000, 'getLogs: exceed max rows 10000', 'results', 10_000],
  [-32000, 'query limit of 10000 logs exceeded', 'results', null],
  [-32000, 'Exceed max logs limit: 10000', 'results', 10_000],
  [-32000, 'window too large: 20000 > 1000', 'results', 1_000],
  [
    -32602,
    'query exceeds max results 20000, retry with the range 25766988-25775072',
    'results',
    8_085,
  ],
] as const)('%i %s', (code, message, limits, blocks) => {
  const { range, retry, cooldown } = evm.ofNodeError({ status: 200, code, message }, 'eth_getLogs')
  expect({ range, retry, cooldown }).toEqual({
    range: { limits, blocks },
    retry: true,
    cooldown: false,
  })
})

test('a limit is found in `data`', () => {
  const details = '{"error_id":"1","payload":"range 90000 is bigger than range limit 2000"}'
  const error = { status: 200, code: -32602, message: 'invalid params', details }
  expect(evm.ofNodeError(error, 'eth_getLogs').range).toEqual({ limits: 'blocks', blocks: 2_000 })
})

test('other limits are none of a range', () => {
  for (const message of [
    'daily request count exceeded, request rate limited',
    'Your app has exceeded its compute units per second capacity',
    'exceed max addresses or topics per search position',
    'block range extends beyond current head block',
    'Too Many Requests',
    'please specify less number of address in the getLogs query',
    'This query contains 5006 filters. The current limit is 5000.',
    'query exceeds the maximum of 1000 addresses',
    'project ID request rate exceeded',
    'exceeded project rate limit',
    'over rate limit',
    '50/second request limit reached - reduce calls per second',
    'You have exceeded your monthly request limit',
    'Monthly capacity limit exceeded',
    'Rate limit reached. Visit the pricing page to upgrade',
    'Too many requests, reason: call rate limit exhausted, retry in 10s',
    'no backend is currently healthy to serve traffic',
    'eth_getLogs is disabled on this endpoint',
    'too many concurrent requests',
    'batch limit of 100 exceeded',
    'toBlock must be above fromBlock',
    'fromBlock cannot be above toBlock',
  ])
    expect(evm.ofNodeError({ status: 200, code: -32000, message }, 'eth_getLogs').range).toBe(
      undefined,
    )
})
