#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The rpc-router Authors
#
# with-kind.sh COMMAND...: runs a command with the KUBECONFIG of a kind cluster of three nodes. Then
# it deletes the cluster, unless it existed before or KEEP is set. KIND_IMAGE is the nodes' image,
# and KIND_CONFIG a file for `kind create cluster`.
set -eu
name=${KIND_CLUSTER:-rpc-router}
tools=$PWD/dist/tools
PATH=$tools:$PATH
export KUBECONFIG="$tools/$name.conf"
mkdir -p "$tools"
command -v kind >/dev/null || GOBIN=$tools CGO_ENABLED=0 go install sigs.k8s.io/kind@v0.30.0

remove() {
  if [ -n "${KEEP:-}" ]; then echo "The cluster stays: export KUBECONFIG=$KUBECONFIG. To delete it: kind delete cluster --name $name"
  else kind delete cluster --name "$name"; fi
}
trap remove EXIT
trap 'exit 130' INT TERM

if kind get clusters -q | grep -qx "$name"; then
  KEEP=1
  kind export kubeconfig --name "$name"
else
  cat >"$tools/$name.yaml" <<YAML
kind: Cluster
apiVersion: kind.x-k8s.io/v1alpha4
nodes: [{ role: control-plane }, { role: worker }, { role: worker }]
YAML
  kind create cluster --name "$name" ${KIND_IMAGE:+--image "$KIND_IMAGE"} --wait 3m --config "${KIND_CONFIG:-$tools/$name.yaml}" ||
    { echo 'kind cannot create a cluster: set KIND_IMAGE to an image that this docker has, or KUBECONFIG to the file of another cluster.' >&2; exit 1; }
fi
# Without it, the tests of autoscaling are skipped.
metrics=https://github.com/kubernetes-sigs/metrics-server/releases/download/v0.8.0/components.yaml
kubectl=$(ls "${RPC_ROUTER_CACHE:-$HOME/.cache/rpc-router}"/kube-*/bin/kubectl | tail -n 1)
if curl -fsSL --max-time 60 "$metrics" -o "$tools/metrics-server.yaml"; then
  # The kubelets of kind have self-signed certificates.
  sed -i.orig 's/- --metric-resolution=.*/&\n        - --kubelet-insecure-tls/' "$tools/metrics-server.yaml"
  "$kubectl" apply -f "$tools/metrics-server.yaml" >/dev/null
  # An unavailable API would block the deletion of namespaces.
  "$kubectl" -n kube-system rollout status deployment/metrics-server --timeout=2m ||
    "$kubectl" delete -f "$tools/metrics-server.yaml" >/dev/null
fi
"$@"
