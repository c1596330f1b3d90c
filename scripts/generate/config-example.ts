// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The rpc-router Authors
/** The config at the start of the reference. A test validates it. */
export const configExample = `# Listeners: one per chain and interface.
endpoints:
  - network-address: 0.0.0.0:3360   # the default; ":3360" and "3360" mean the same
    chain-id: ETH1
    api-interface: jsonrpc
    relay:                          # what this listener does otherwise (optional)
      strategy: latency
      set-relay-retry-limit: 3

# Upstreams: your own providers.
direct-rpc:
  - name: alpha                     # in metrics, headers and rpc-select-provider
    chain-id: ETH1
    api-interface: jsonrpc
    node-urls:
      - url: https://eth.alpha.example/v2/\${ALPHA_KEY}   # rendered at launch, never printed
        addons: [archive, debug]
      - url: https://eth-eu.alpha.example/v2/\${ALPHA_KEY}
        timeout: 3s
      - url: wss://eth.alpha.example/v2/\${ALPHA_KEY}     # for subscriptions

  - name: beta
    chain-id: ETH1
    api-interface: jsonrpc
    node-urls:
      - url: https://rpc.beta.example
        auth-config:
          auth-headers:
            Authorization: Bearer \${BETA_TOKEN}
          auth-query: "key=\${BETA_KEY}"

# Upstreams that take over when no primary one is left.
backup-direct-rpc:
  - name: own-node
    chain-id: ETH1
    api-interface: jsonrpc
    node-urls:
      - url: https://node.internal.example:8545
        skip-verifications: ["*"]
        auth-config:
          tls:
            ca-file: /etc/router/ca.pem
            cert-file: /etc/router/client.pem
            key-file: /etc/router/client-key.pem

# A Redis that the replicas share, for sticky sessions with shared-state.
resp-cache:
  topology: sentinel                # or standalone, the default, or cluster
  addresses: [sentinel-0.example:26379, sentinel-1.example:26379]
  master-name: mymaster
  password-file: /etc/router/redis-password
shared-state: true

# Settings of the process: each is a flag too, --strategy and so on.
strategy: balanced
metrics-listen-address: :7779
health-check-interval: 5m
liveness-probe-interval: 5s
env-file: /etc/router/keys.env
`
