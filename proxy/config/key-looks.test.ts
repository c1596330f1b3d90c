// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
import { expect, test } from 'vitest'
import { looksLikeKey, soundsLikeKey } from './key-looks.ts'

test.each([
  'SEKRET0NE',
  'abcd1234',
  's3cr3tk3y',
  'canary-5f3c9e',
  'abcdefghijklmnop',
  'ABCDEFGHIJKLMNOP',
  'my-secret-api-key-value',
  '0123456789abcdef',
  '0xdeadbeef0123',
  'deadbeefdeadbeef',
  '550e8400-e29b-41d4-a716-446655440000',
  'aBc/dEfGh1jKlMn+OpQ=',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz',
  'p%40ss%2Fw0rd-12',
  '123456789012',
  'Xy$9!kk@2:z#q1',
])('%s looks like a key', (text) => {
  expect(looksLikeKey(text)).toBe(true)
})

test.each([
  '',
  'abc123',
  'jsonrpc',
  'jsonrpc2',
  'jsonrpc2.0',
  'mainnet',
  'MAINNET',
  'Ethereum',
  'Query',
  'message',
  'cosmos',
  'cosmoshub-4',
  'evmos_9001-2',
  'theta-testnet-001',
  'ethereum-mainnet',
  'arbitrum-sepolia',
  'v1alpha1',
  'eth-main1',
  'unknown service',
  'net%2Dmain',
  '12345678901',
  '2026-01-02',
  'v1.2.3-beta',
  'eth-main1.example.com',
  'eth-main1.example.com:8545',
  '192.168.100.200:8545',
  'ethereum/mainnet/v1alpha1',
  '/v2/ETH1/rpc2/mainnet',
  'https://eth-main1.example.com/v1',
  'application/json',
  'application/x.aptos.signed_transaction+bcs',
  'text/html; charset=utf-8',
  'application/json, text/plain;q=0.9, */*',
])('%j does not', (text) => {
  expect(looksLikeKey(text)).toBe(false)
})

test.each([
  ['authorization', true],
  ['Cookie', true],
  ['x-api-key', true],
  ['X-Auth-User', true],
  ['api_key', true],
  ['accessToken', true],
  ['client_secret', true],
  ['password', true],
  ['accept', false],
  ['content-type', false],
  ['x-aptos-client', false],
  ['user-agent', false],
  ['network', false],
  ['q', false],
])('a value named %s is a key: %j', (name, isKey) => {
  expect(soundsLikeKey(name)).toBe(isKey)
})
