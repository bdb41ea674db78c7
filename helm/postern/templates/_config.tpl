{{/* postern.yaml: config, and the settings that follow from other values. */}}
{{- define "postern.config" -}}
{{- $config := deepCopy .Values.config -}}
{{- $policy := default dict $config.policy -}}
{{- if has .Values.policy.delivery (list "redis" "push") -}}
{{- $policy = set $policy "source" "redis" -}}
{{- else -}}
{{- $policy = set (omit $policy "snapshot") "source" "files" -}}
{{- end -}}
{{- if eq .Values.policy.delivery "files" -}}
{{- $policy = set $policy "directory" (include "postern.policyDirectory" .) -}}
{{- end -}}
{{- $config = set $config "policy" $policy -}}
{{- if .Values.keys.existingSecret -}}
{{- $jwt := set (default dict $config.jwt) "keyDirectory" (include "postern.keyDirectory" .) -}}
{{- $config = set $config "jwt" $jwt -}}
{{- end -}}
{{- if .Values.tls.existingSecret -}}
{{- $tls := set (default dict $config.tls) "certFile" "/etc/postern/tls/tls.crt" -}}
{{- $config = set $config "tls" (set $tls "keyFile" "/etc/postern/tls/tls.key") -}}
{{- end -}}
{{ toYaml $config }}
{{- end -}}

{{/* Scheme of the public port. */}}
{{- define "postern.scheme" -}}
{{- if or .Values.tls.existingSecret (dig "tls" "certFile" "" .Values.config) }}https{{ else }}http{{ end -}}
{{- end -}}

{{/* Port of the Service for HTTP/2 without TLS; empty when the public port does not accept it. */}}
{{- define "postern.h2cPort" -}}
{{- if and (dig "application" "h2c" false .Values.config) (eq (include "postern.scheme" .) "http") -}}
{{- int64 .Values.service.h2c.port -}}
{{- end -}}
{{- end -}}

{{/* Port of the Service that accepts HTTP/2, with TLS or without; empty when none does. */}}
{{- define "postern.http2Port" -}}
{{- if eq (include "postern.scheme" .) "http" -}}
{{- include "postern.h2cPort" . -}}
{{- else if dig "application" "http2" true .Values.config -}}
{{- int64 .Values.service.port -}}
{{- end -}}
{{- end -}}

{{/* Port for forward-auth requests from outside the pod; empty when there are none. */}}
{{- define "postern.forwardAuthPort" -}}
{{- $loopback := list "127.0.0.1" "localhost" "::1" -}}
{{- $isOpen := not (has (dig "forwardAuth" "host" "127.0.0.1" .Values.config) $loopback) -}}
{{- if and (dig "forwardAuth" "enabled" false .Values.config) $isOpen -}}
{{- dig "forwardAuth" "port" 9101 .Values.config | int64 -}}
{{- end -}}
{{- end -}}

{{/* 50: with the suffix, a name of a Service has at most 63 characters. */}}
{{- define "postern.forwardAuthName" -}}
{{- include "postern.fullname" . | trunc 50 | trimSuffix "-" }}-forward-auth
{{- end -}}

{{/* As src/config/identity-headers.ts has them. */}}
{{- define "postern.presetHeaders" -}}
oauth2-proxy: [X-Forwarded-User, X-Forwarded-Preferred-Username, X-Forwarded-Email, X-Forwarded-Groups]
authelia: [Remote-User, Remote-Name, Remote-Email, Remote-Groups]
{{- end -}}

{{/* Headers of a positive response that the proxy forwards. */}}
{{- define "postern.identityHeaders" -}}
- X-User-Id
- X-Role-Key
- X-Data-Scope
- X-User-Name
- X-Role-Id
- X-Request-Id
- X-Postern-Assertion
{{- range $claim, $name := dig "headers" "claims" dict .Values.config }}
- {{ $name }}
{{- end }}
{{- range dig (dig "headers" "preset" "" .Values.config) (list) (include "postern.presetHeaders" . | fromYaml) }}
- {{ . }}
{{- end }}
{{- end -}}

{{/* Port of the console for connections from outside the pod; empty when only port-forward reaches it. */}}
{{- define "postern.consolePort" -}}
{{- $loopback := list "127.0.0.1" "localhost" "::1" -}}
{{- $isOpen := not (has (dig "console" "host" "127.0.0.1" .Values.config) $loopback) -}}
{{- if and (dig "console" "enabled" false .Values.config) $isOpen -}}
{{- dig "console" "port" 9200 .Values.config | int64 -}}
{{- end -}}
{{- end -}}

{{- define "postern.policyDirectory" -}}
{{- dig "policy" "directory" "/etc/postern/policies" .Values.config -}}
{{- end -}}

{{- define "postern.keyDirectory" -}}
{{- dig "jwt" "keyDirectory" "/etc/postern/keys" .Values.config -}}
{{- end -}}

{{/* Configured secrets by name: file, environment variable, Secret and its key. */}}
{{- define "postern.secretFiles" -}}
{{- $variables := dict
  "jwtSecret" "POSTERN_JWT__SECRET_FILE"
  "databaseUrl" "POSTERN_DATABASE__URL_FILE"
  "redisUrl" "POSTERN_REDIS__URL_FILE"
  "ldapBindPassword" "POSTERN_LOGIN__LDAP__BINDPASSWORD_FILE" -}}
{{- range $name, $variable := $variables }}
{{- $given := index $.Values.secrets $name }}
{{- if or $given.value $given.existingSecret }}
{{ $name }}:
  file: {{ kebabcase $name }}
  variable: {{ $variable }}
  secret: {{ default (include "postern.fullname" $) $given.existingSecret }}
  key: {{ ternary $given.key (kebabcase $name) (not (empty $given.existingSecret)) | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- define "postern.secretVolume" -}}
- name: secrets
  projected:
    # 0440: the group is podSecurityContext.fsGroup.
    defaultMode: 288
    sources:
      {{- range . }}
      - secret:
          name: {{ .secret }}
          items:
            - key: {{ .key | quote }}
              path: {{ .file }}
      {{- end }}
{{- end -}}

{{- define "postern.secretEnv" -}}
{{- range . }}
- name: {{ .variable }}
  value: /run/secrets/postern/{{ .file }}
{{- end }}
{{- end -}}

{{/* Content of the Secret of the release. */}}
{{- define "postern.ownSecrets" -}}
{{- range $name, $given := .Values.secrets }}
{{- if $given.value }}
{{ kebabcase $name }}: {{ $given.value | b64enc | quote }}
{{- end }}
{{- end }}
{{- end -}}
