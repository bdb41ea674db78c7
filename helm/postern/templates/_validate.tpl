{{/* What no schema can tell. Fails with one line for each thing that is missing or does not fit. */}}
{{- define "postern.validate" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- $secrets := include "postern.secretFiles" . | fromYaml -}}
{{- $mode := dig "application" "mode" "prod" $values.config -}}
{{- $isDev := eq $mode "dev" -}}
{{- $several := or $values.autoscaling.enabled (gt (int64 $values.replicaCount) 1) -}}
{{- $workers := int64 (dig "application" "workers" 1 $values.config) -}}
{{- $delivery := $values.policy.delivery -}}

{{- if not $values.image.repository -}}
{{- $problems = append $problems "image.repository is missing: build the image with `docker build -t REGISTRY/postern:VERSION .`, push it, and name it here" -}}
{{- end -}}
{{- if eq $values.image.tag "latest" -}}
{{- $problems = append $problems "image.tag latest names no version: name one, or image.digest" -}}
{{- end -}}

{{- if and $isDev (not $values.allowDevMode) -}}
{{- $problems = append $problems "config.application.mode dev skips the captcha and makes tokens last a hundred years: use prod, or set allowDevMode if that is meant" -}}
{{- end -}}

{{- if not (or $isDev $secrets.jwtSecret $values.keys.existingSecret (dig "jwt" "keyDirectory" "" $values.config)) -}}
{{- $problems = append $problems "secrets.jwtSecret is missing: name a Secret in secrets.jwtSecret.existingSecret, or one of keys in keys.existingSecret" -}}
{{- end -}}
{{- if and $values.secrets.jwtSecret.value (lt (len $values.secrets.jwtSecret.value) 32) -}}
{{- $problems = append $problems "secrets.jwtSecret.value is too short: at least 32 random bytes, for instance of `openssl rand -base64 48`" -}}
{{- end -}}
{{- range $name, $given := $values.secrets -}}
{{- if and $given.value $given.existingSecret -}}
{{- $problems = append $problems (printf "secrets.%s has a value and an existingSecret: keep one" $name) -}}
{{- end -}}
{{- end -}}

{{- if and (has $delivery (list "redis" "push")) (not $secrets.redisUrl) -}}
{{- $problems = append $problems (printf "secrets.redisUrl is missing: policy.delivery %s takes policies from Redis; name a Secret in secrets.redisUrl.existingSecret" $delivery) -}}
{{- else if and $several (not $secrets.redisUrl) -}}
{{- $problems = append $problems "secrets.redisUrl is missing: several replicas share captchas and limits in Redis; name a Secret in secrets.redisUrl.existingSecret, or run one replica" -}}
{{- else if and (gt $workers 1) (not $secrets.redisUrl) -}}
{{- $problems = append $problems "secrets.redisUrl is missing: config.application.workers share captchas and limits in Redis; name a Secret in secrets.redisUrl.existingSecret, or run one worker" -}}
{{- end -}}
{{- if not $secrets.databaseUrl -}}
{{- if $several -}}
{{- $problems = append $problems "secrets.databaseUrl is missing: several replicas share accounts in PostgreSQL; name a Secret in secrets.databaseUrl.existingSecret" -}}
{{- else if gt $workers 1 -}}
{{- $problems = append $problems "secrets.databaseUrl is missing: config.application.workers share accounts in PostgreSQL; name a Secret in secrets.databaseUrl.existingSecret, or run one worker" -}}
{{- else if not $values.persistence.enabled -}}
{{- $problems = append $problems "secrets.databaseUrl is missing: without it accounts are in the embedded database, and persistence.enabled has to keep that" -}}
{{- end -}}
{{- $memory := dig "limits" "memory" "" $values.resources -}}
{{- if and $values.persistence.enabled (not $several) (regexMatch "^[0-9]+Mi$" $memory) -}}
{{- if lt (int (trimSuffix "Mi" $memory)) 1536 -}}
{{- $problems = append $problems "resources.limits.memory is too little for the embedded database, whose first start takes 1.1 GB: use 1536Mi or more, or secrets.databaseUrl" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.persistence.enabled $several -}}
{{- $problems = append $problems "persistence.enabled is for one replica: set replicaCount to 1 and autoscaling.enabled to false, or take it out" -}}
{{- end -}}

{{- $hasPolicy := or $values.policy.files $values.policy.existingConfigMap -}}
{{- if and (has $delivery (list "push" "files")) (not $hasPolicy) -}}
{{- $problems = append $problems (printf "policy.files is missing: policy.delivery %s needs model.conf, rules and exclusions.yaml, or policy.existingConfigMap" $delivery) -}}
{{- else if and (has $delivery (list "redis" "volume")) $hasPolicy -}}
{{- $problems = append $problems (printf "policy.files is not used: policy.delivery is %s; push or files would use it" $delivery) -}}
{{- end -}}
{{- if and $values.policy.files $values.policy.existingConfigMap -}}
{{- $problems = append $problems "policy.files and policy.existingConfigMap are both given: keep one" -}}
{{- end -}}
{{- if and (eq $delivery "volume") (not (dig "policy" "directory" "" $values.config)) -}}
{{- $problems = append $problems "config.policy.directory is missing: policy.delivery volume needs the directory that extraVolumeMounts brings" -}}
{{- end -}}

{{- if has (dig "ops" "host" "" $values.config) (list "" "127.0.0.1" "localhost" "::1") -}}
{{- $problems = append $problems "config.ops.host is this pod alone: the kubelet could not ask for health; use 0.0.0.0" -}}
{{- end -}}
{{- if and (not $values.extraContainers) (not $values.appContainers) (has (dig "application" "host" "0.0.0.0" $values.config) (list "127.0.0.1" "localhost" "::1")) -}}
{{- $problems = append $problems "config.application.host is this pod alone: nobody could call; use 0.0.0.0" -}}
{{- end -}}

{{- if and $values.networkPolicy.enabled (include "postern.forwardAuthPort" .) (not $values.networkPolicy.forwardAuthFrom) -}}
{{- $problems = append $problems "networkPolicy.forwardAuthFrom is missing: config.forwardAuth is enabled, and no proxy could reach its port" -}}
{{- end -}}

{{- if $values.appContainers -}}
{{- $order := $values.appShutdown.order -}}
{{/* Below 1.26 the chart is refused anyway, and `helm lint` calls itself such a cluster. */}}
{{- if and (eq $order "native") (semverCompare ">=1.26.0-0 <1.29.0-0" .Capabilities.KubeVersion.Version) -}}
{{- $problems = append $problems (printf "appShutdown.order native needs Kubernetes 1.29, and this cluster has %s: set it to preStop" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- range $values.appContainers -}}
{{- if and (eq $order "preStop") (dig "lifecycle" "preStop" "" .) -}}
{{- $problems = append $problems (printf "appContainers %s has a preStop hook of its own, and appShutdown.order preStop would replace it: move it to extraContainers, or use native" .name) -}}
{{- end -}}
{{- if ne (dig "restartPolicy" "Always" .) "Always" -}}
{{- $problems = append $problems (printf "appContainers %s has restartPolicy %s: it would have to end before Postern starts; leave it out" .name .restartPolicy) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $deadline := div (add (int64 $values.config.shutdown.deadlineMs) 999) 1000 -}}
{{- $workers := toString $values.config.application.workers -}}
{{- $spare := ternary 0 5 (eq $workers "1") -}}
{{- $needed := add $deadline $spare (include "postern.appSeconds" . | int64) -}}
{{- if le (int64 (include "postern.terminationGracePeriodSeconds" .)) $needed -}}
{{- $problems = append $problems (printf "terminationGracePeriodSeconds has to be more than the %d s of config.shutdown.deadlineMs, what workers take besides, and appShutdown.seconds: else requests under way are killed" $needed) -}}
{{- end -}}
{{- $pdb := $values.podDisruptionBudget -}}
{{- if and $pdb.enabled (not (kindIs "invalid" $pdb.minAvailable)) (not (kindIs "invalid" $pdb.maxUnavailable)) -}}
{{- $problems = append $problems "podDisruptionBudget has minAvailable and maxUnavailable: keep one" -}}
{{- end -}}
{{- if and $values.autoscaling.enabled (gt (int64 $values.autoscaling.minReplicas) (int64 $values.autoscaling.maxReplicas)) -}}
{{- $problems = append $problems "autoscaling.minReplicas must not be more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) -}}
{{- $problems = append $problems "ingress.hosts is missing: name at least one host" -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) -}}
{{- $problems = append $problems "httpRoute.parentRefs is missing: name the Gateway" -}}
{{- end -}}

{{- if $problems -}}
{{- fail (printf "\n%s\n" (join "\n" $problems)) -}}
{{- end -}}
{{- end -}}
