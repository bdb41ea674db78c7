{{/* PromQL matchers that select the gateways of this release: the labels that the ServiceMonitor sets. */}}
{{- define "postern.alertMatchers" -}}
{{- $own := printf "namespace=%q,job=%q" (include "postern.namespace" .) (printf "%s-ops" (include "postern.fullname" .)) -}}
{{- default $own .Values.metrics.prometheusRule.matchers -}}
{{- end -}}

{{/*
Expression of one alert. Takes the expression, its threshold (or nothing) and matchers. The threshold replaces the
first number behind < or >, and every metric gets the matchers.
*/}}
{{- define "postern.alertExpression" -}}
{{- $expression := .expression -}}
{{- if not (kindIs "invalid" .threshold) -}}
{{- $old := regexFind "[<>] [0-9.]+" $expression -}}
{{- $parts := splitn $old 2 $expression -}}
{{- $expression = printf "%s%s %v%s" $parts._0 (substr 0 1 $old) .threshold $parts._1 -}}
{{- end -}}
{{- $metric := `\b((?:postern|process|nodejs)_[a-z0-9_]+|up)` -}}
{{- $expression = regexReplaceAll (printf `%s\{` $metric) $expression (printf "${1}{%s," .matchers) -}}
{{- regexReplaceAll (printf `%s([^a-z0-9_{]|$)` $metric) $expression (printf "${1}{%s}${2}" .matchers) -}}
{{- end -}}
