{{- define "postern.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Leaves room for the longest suffix, -policy-hook. */}}
{{- define "postern.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 51 | trimSuffix "-" -}}
{{- else if contains (include "postern.name" .) .Release.Name -}}
{{- .Release.Name | trunc 51 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "postern.name" .) | trunc 51 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "postern.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "postern.releaseLabels" -}}
app.kubernetes.io/name: {{ include "postern.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Selector of the gateways' pods. It must not match the pod of a hook, which would get requests. */}}
{{- define "postern.selectorLabels" -}}
{{ include "postern.releaseLabels" . }}
app.kubernetes.io/component: gateway
{{- end -}}

{{/* Labels of every object except the gateways' pods. */}}
{{- define "postern.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "postern.labels" -}}
{{ include "postern.commonLabels" . }}
{{ include "postern.selectorLabels" . }}
{{- end -}}

{{- define "postern.image" -}}
{{- $image := .Values.image -}}
{{- $registry := default $image.registry (dig "imageRegistry" "" (default dict .Values.global)) -}}
{{- if $registry }}{{ $registry }}/{{ end }}{{ $image.repository }}
{{- if $image.digest }}@{{ $image.digest }}{{ else }}:{{ default .Chart.AppVersion $image.tag }}{{ end }}
{{- end -}}

{{/* How every pod of the release resolves names and is run. */}}
{{- define "postern.podEnvironment" -}}
{{- with .Values.runtimeClassName }}
runtimeClassName: {{ . }}
{{- end }}
{{- with .Values.dnsPolicy }}
dnsPolicy: {{ . }}
{{- end }}
{{- with .Values.dnsConfig }}
dnsConfig:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "postern.serviceIpFamilies" -}}
{{- with .Values.service.ipFamilyPolicy }}
ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
ipFamilies:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "postern.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "postern.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{/* Deadline of Postern's shutdown, in seconds. */}}
{{- define "postern.endSeconds" -}}
{{- div (add (int64 .Values.config.shutdown.deadlineMs) 999) 1000 -}}
{{- end -}}

{{/* Time for appContainers to stop after that, in seconds. */}}
{{- define "postern.appSeconds" -}}
{{- if .Values.appContainers }}{{ int64 .Values.appShutdown.seconds }}{{ else }}0{{ end -}}
{{- end -}}

{{/* Order of appShutdown, decided by the version of the cluster if it is auto. */}}
{{- define "postern.appOrder" -}}
{{- $order := .Values.appShutdown.order -}}
{{- if ne $order "auto" -}}
{{- $order -}}
{{- else if semverCompare ">=1.29.0-0" .Capabilities.KubeVersion.Version -}}
native
{{- else -}}
preStop
{{- end -}}
{{- end -}}

{{/* Path of the readiness probe. */}}
{{- define "postern.readyPath" -}}
/readyz
{{- with .Values.readyUpstreams }}?upstream={{ join "&upstream=" . }}{{ end -}}
{{- end -}}

{{/* appContainers, in the form in which they stop after Postern. */}}
{{- define "postern.nativeAppContainers" -}}
{{- range .Values.appContainers }}
- {{ toYaml (merge (dict "restartPolicy" "Always") .) | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/* Workers may take 5 seconds longer than the deadline. */}}
{{- define "postern.preStopAppContainers" -}}
{{- $seconds := add (include "postern.endSeconds" . | int64) 5 | toString -}}
{{- $hook := dict "preStop" (dict "exec" (dict "command" (list "sleep" $seconds))) -}}
{{- range .Values.appContainers }}
- {{ toYaml (merge (dict "lifecycle" (deepCopy $hook)) .) | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{- define "postern.terminationGracePeriodSeconds" -}}
{{- $least := add (include "postern.endSeconds" . | int64) 10 (include "postern.appSeconds" . | int64) -}}
{{- if kindIs "invalid" .Values.terminationGracePeriodSeconds -}}
{{- $least -}}
{{- else -}}
{{- int64 .Values.terminationGracePeriodSeconds -}}
{{- end -}}
{{- end -}}

{{/*
With autoscaling, the number that runs now: without a number, the API server would set 1 when autoscaling is turned
on, and most gateways would stop until the autoscaler notices. Empty where the cluster cannot be read (helm template).
*/}}
{{- define "postern.replicas" -}}
{{- if not .Values.autoscaling.enabled -}}
{{- int64 .Values.replicaCount -}}
{{- else -}}
{{- with lookup "apps/v1" "Deployment" (include "postern.namespace" .) (include "postern.fullname" .) -}}
{{- int64 .spec.replicas -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* ConfigMap that gateways mount with policy.delivery files. Gateways do not need the tests. */}}
{{- define "postern.policyConfigMap" -}}
{{- default (printf "%s-policy" (include "postern.fullname" .)) .Values.policy.existingConfigMap -}}
{{- end -}}

{{/* Without file names, so that a new file does not restart pods. */}}
{{- define "postern.policyVolume" -}}
- name: policy
  configMap:
    name: {{ include "postern.policyConfigMap" . }}
    {{- if and .Values.policy.existingConfigMap .Values.policy.items }}
    items:
      {{- toYaml .Values.policy.items | nindent 6 }}
    {{- end }}
{{- end -}}

{{- define "postern.certificateAuthorityVolume" -}}
{{- with .Values.certificateAuthority.existingConfigMap }}
- name: certificate-authority
  configMap:
    name: {{ . }}
    items:
      - key: {{ $.Values.certificateAuthority.key | quote }}
        path: ca.crt
{{- end }}
{{- end -}}
