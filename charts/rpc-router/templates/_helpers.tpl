{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "rpc-router.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Name of the objects: the release's name, with the chart's name unless the former contains it. */}}
{{- define "rpc-router.fullname" -}}
{{- $name := include "rpc-router.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 53 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- printf "%s-operator" .Release.Name | trunc 53 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s-operator" .Release.Name $name | trunc 53 | trimSuffix "-" -}}
{{- end -}}
{{- end }}

{{- define "rpc-router.selectorLabels" -}}
{{- dict "app.kubernetes.io/name" (include "rpc-router.name" .) "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/component" "operator" | toYaml -}}
{{- end }}

{{/* Labels of an object of the operator: (list . more...) */}}
{{- define "rpc-router.labels" -}}
{{- $own := include "rpc-router.selectorLabels" (first .) | fromYaml -}}
{{- include "rpc-router.releaseLabels" (concat (list (first .) $own) (rest .)) -}}
{{- end }}

{{/* Labels of shared objects: (list . more...). The first of two with the same name wins, so that users' labels cannot break selectors. */}}
{{- define "rpc-router.releaseLabels" -}}
{{- $root := first . -}}
{{- $labels := dict "app.kubernetes.io/part-of" "rpc-router" "app.kubernetes.io/version" $root.Chart.AppVersion "app.kubernetes.io/managed-by" $root.Release.Service -}}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_") -}}
{{- range rest . }}{{ $labels = merge $labels . }}{{ end -}}
{{- merge $labels $root.Values.commonLabels | toYaml -}}
{{- end }}

{{- define "rpc-router.serviceAccountName" -}}
{{- default (ternary (include "rpc-router.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end }}

{{/* An image: (list . .Values.image) */}}
{{- define "rpc-router.image" -}}
{{- $root := index . 0 -}}
{{- with index . 1 -}}
{{- $registry := default $root.Values.global.imageRegistry .registry -}}
{{- if $registry }}{{ trimSuffix "/" $registry }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}{{ else }}:{{ default $root.Chart.AppVersion .tag }}{{ end -}}
{{- end -}}
{{- end }}

{{/* Flags of the operator with values in this chart. */}}
{{- define "rpc-router.flags" -}}
{{- with include "rpc-router.namespaces" . -}}
- --namespaces={{ . }}
{{ end -}}
- --lease-name={{ include "rpc-router.leaseName" . }}
- --router-image={{ include "rpc-router.image" (list . .Values.routerImage) }}
- --redis-image={{ include "rpc-router.image" (list . .Values.redisImage) }}
{{- with concat .Values.global.imagePullSecrets .Values.routerImagePullSecrets | uniq }}
- --image-pull-secrets={{ range $index, $secret := . }}{{ if $index }},{{ end }}{{ .name }}{{ end }}
{{- end }}
{{- with .Values.operator }}
- --log-level={{ .logLevel }}
- --workers={{ .workers }}
- --qps={{ .qps }}
- --max-rolling-routers={{ .maxRollingRouters }}
- --allow-link-local={{ .allowLinkLocal }}
- --observe-pods={{ .observePods }}
{{- end }}
{{- end }}

{{/* All arguments. The operator refuses to start with a duplicate flag. */}}
{{- define "rpc-router.args" -}}
{{- $flags := include "rpc-router.flags" . -}}
{{- range .Values.operator.extraArgs -}}
{{- $flag := regexFind "^--[^=]+" . -}}
{{- if and $flag (contains (printf "- %s=" $flag) (print "- --namespaces=\n- --image-pull-secrets=\n" $flags)) -}}
{{- fail (printf "operator.extraArgs: %s has a value of its own in this chart, which must be set instead" $flag) -}}
{{- end -}}
{{- end -}}
{{ $flags }}
{{- with .Values.operator.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* The watched namespaces, separated by commas; empty for all. */}}
{{- define "rpc-router.namespaces" -}}
{{- .Values.namespaces | sortAlpha | join "," -}}
{{- end }}

{{/* The operator's own default, so that an operator on a developer's machine uses the same lease. */}}
{{- define "rpc-router.leaseName" -}}
{{- $usual := "rpc-router-operator" -}}
{{- $all := include "rpc-router.namespaces" . -}}
{{- if .Values.leaderElection.leaseName -}}
{{- .Values.leaderElection.leaseName -}}
{{- else if not $all -}}
{{- $usual -}}
{{- else -}}
{{- $long := printf "%s.%s" $usual (replace "," "." $all) -}}
{{- if le (len $long) 100 }}{{ $long }}{{ else }}{{ $usual }}.{{ sha256sum $all | trunc 16 }}{{ end -}}
{{- end -}}
{{- end }}
