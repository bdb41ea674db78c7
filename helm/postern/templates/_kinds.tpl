{{/*
Problems with kinds of other projects that values turn on and the cluster does not have, one line each. Only a
cluster reports kinds, as v1/Pod; without one (`helm template`, `helm lint`), nothing can be missing.
*/}}
{{- define "postern.missingKinds" -}}
{{- $wanted := list
  (list .Values.metrics.serviceMonitor.enabled "metrics.serviceMonitor.enabled" "monitoring.coreos.com/v1" "ServiceMonitor" "the Prometheus Operator")
  (list .Values.metrics.prometheusRule.enabled "metrics.prometheusRule.enabled" "monitoring.coreos.com/v1" "PrometheusRule" "the Prometheus Operator")
  (list .Values.httpRoute.enabled "httpRoute.enabled" "gateway.networking.k8s.io/v1" "HTTPRoute" "the Gateway API")
  (list .Values.grpcRoute.enabled "grpcRoute.enabled" "gateway.networking.k8s.io/v1" "GRPCRoute" "the Gateway API")
  (list .Values.forwardAuth.traefik.enabled "forwardAuth.traefik.enabled" "traefik.io/v1alpha1" "Middleware" "Traefik")
  (list .Values.forwardAuth.envoyGateway.enabled "forwardAuth.envoyGateway.enabled" "gateway.envoyproxy.io/v1alpha1" "SecurityPolicy" "Envoy Gateway")
  (list .Values.forwardAuth.contour.enabled "forwardAuth.contour.enabled" "projectcontour.io/v1alpha1" "ExtensionService" "Contour")
  (list .Values.forwardAuth.istio.enabled "forwardAuth.istio.enabled" "security.istio.io/v1" "AuthorizationPolicy" "Istio")
-}}
{{- if .Capabilities.APIVersions.Has "v1/Pod" -}}
{{- range $wanted -}}
{{- $kind := printf "%s/%s" (index . 2) (index . 3) -}}
{{- if and (index . 0) (not ($.Capabilities.APIVersions.Has $kind)) }}
{{ index . 1 }} needs the kind {{ index . 3 }} ({{ index . 2 }}), which this cluster does not have: install the CRDs of {{ index . 4 }}, or set it to false
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
