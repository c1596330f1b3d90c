{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "rpc-router.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{/* Name of the objects: that of the release, with the name of the chart unless the release has it already. */}}
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
app.kubernetes.io/name: {{ include "rpc-router.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "rpc-router.labels" -}}
{{ include "rpc-router.selectorLabels" . }}
{{ include "rpc-router.releaseLabels" . }}
{{- end }}

{{/* Labels of what is not of the operator alone. */}}
{{- define "rpc-router.releaseLabels" -}}
app.kubernetes.io/part-of: rpc-router
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
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

{{/* The namespaces that are watched, each once, as one text; empty for all. */}}
{{- define "rpc-router.namespaces" -}}
{{- .Values.namespaces | sortAlpha | join "," -}}
{{- end }}

{{/* The same name as the operator itself chooses, so that one on a developer's machine does not work against it. */}}
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
