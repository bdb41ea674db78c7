{{- define "postern.hookAnnotations" -}}
helm.sh/hook: pre-install,pre-upgrade,pre-rollback
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}

{{- define "postern.hookLabels" -}}
{{ include "postern.commonLabels" . }}
{{ include "postern.releaseLabels" . }}
app.kubernetes.io/component: policy-hook
{{- end -}}

{{/* Every policy file, including tests. A key of a ConfigMap cannot contain a slash. */}}
{{- define "postern.hookPolicyVolume" -}}
{{- if .Values.policy.existingConfigMap -}}
{{ include "postern.policyVolume" . }}
{{- else -}}
- name: policy
  configMap:
    name: {{ include "postern.fullname" . }}-policy-hook
    items:
      {{- range $name, $_ := .Values.policy.files }}
      - key: {{ $name | replace "/" "__" | quote }}
        path: {{ $name | quote }}
      {{- end }}
{{- end -}}
{{- end -}}

{{/* Command of the Job: publish (which checks and tests first), or only check and test. */}}
{{- define "postern.hookArguments" -}}
{{- $push := .Values.policy.push -}}
{{- $what := ternary "install" "upgrade" .Release.IsInstall -}}
{{- $message := printf "helm %s %s, revision %d" $what .Release.Name .Release.Revision -}}
{{- $hasTests := false -}}
{{- range $name, $_ := .Values.policy.files -}}
{{- $hasTests = or $hasTests (hasPrefix "tests/" $name) -}}
{{- end -}}
{{- if eq .Values.policy.delivery "push" -}}
- policy
- push
- '--yes'
- '--author'
- {{ $push.author | quote }}
- '--message'
- {{ default $message $push.message | quote }}
- '--wait'
- {{ int64 $push.waitSeconds | quote }}
- '--allow-lost'
- '--over'
- live
{{- if $push.allowEmpty }}
- '--allow-empty'
{{- end }}
{{- if $push.noTests }}
- '--no-tests'
{{- end }}
{{- if $push.allowSlow }}
- '--allow-slow'
{{- end }}
{{- if $push.signingKey.existingSecret }}
- '--key'
- /run/secrets/postern/policy-signing-key
{{- end }}
{{- else }}
- policy
- {{ ternary "test" "check" $hasTests }}
{{- end }}
- /etc/postern/policies
{{- end -}}
