// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors

/**
 * Headers by which clients commonly show who they are, to the edge in front of the router or to the
 * router's operator; lower case. A provider has no business with them. (`proxy-authorization` belongs to
 * the connection, as it is.)
 */
export const clientCredentials = [
  'authorization',
  'grpcgateway-authorization',
  'x-serverless-authorization',
  'cookie',
  'grpcgateway-cookie',
  'api-key',
  'apikey',
  'x-api-key',
  'x-apikey',
  'x-goog-api-key',
  'x-rapidapi-key',
  'ocp-apim-subscription-key',
  'x-token',
  'x-auth-token',
  'x-access-token',
  'x-session-token',
  'x-csrf-token',
  'x-amz-security-token',
  'x-amzn-oidc-accesstoken',
  'x-amzn-oidc-data',
  'x-goog-iam-authorization-token',
  'x-goog-iap-jwt-assertion',
  'x-forwarded-access-token',
  'x-auth-request-access-token',
  'x-forwarded-client-cert',
  'cf-access-client-id',
  'cf-access-client-secret',
  'cf-access-jwt-assertion',
] as const
