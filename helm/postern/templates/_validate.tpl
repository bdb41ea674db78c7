{{/* Rules that no schema can express. Fails with one line for each problem. */}}
{{- define "postern.validate" -}}
{{- $problems := list -}}
{{- $values := .Values -}}
{{- $secrets := include "postern.secretFiles" . | fromYaml -}}
{{- $mode := dig "application" "mode" "prod" $values.config -}}
{{- $isDev := eq $mode "dev" -}}
{{- $several := or $values.autoscaling.enabled (gt (int64 $values.replicaCount) 1) -}}
{{- $workers := int64 (dig "application" "workers" 1 $values.config) -}}
{{- $delivery := $values.policy.delivery -}}

{{- if not $values.enabled -}}
{{- $problems = append $problems "enabled: false has an effect only in a chart that has this one as a dependency with `condition: postern.enabled`; remove it" -}}
{{- end -}}
{{- if not $values.image.repository -}}
{{- $problems = append $problems "image.repository is required: build the image with `docker build -t REGISTRY/postern:VERSION .`, push it, and set its repository" -}}
{{- end -}}
{{- if eq $values.image.tag "latest" -}}
{{- $problems = append $problems "image.tag: \"latest\" is not a version; set a version or image.digest" -}}
{{- end -}}

{{- if and $isDev (not $values.allowDevMode) -}}
{{- $problems = append $problems "config.application.mode: \"dev\" skips the captcha and issues tokens that last 100 years; use prod, or set allowDevMode" -}}
{{- end -}}

{{- if not (or $isDev $secrets.jwtSecret $values.keys.existingSecret (dig "jwt" "keyDirectory" "" $values.config)) -}}
{{- $problems = append $problems "secrets.jwtSecret is required: set secrets.jwtSecret.existingSecret, or keys.existingSecret for a key directory" -}}
{{- end -}}
{{- if and $values.secrets.jwtSecret.value (lt (len $values.secrets.jwtSecret.value) 32) -}}
{{- $problems = append $problems "secrets.jwtSecret.value is too short: use at least 32 random bytes, such as from `openssl rand -base64 48`" -}}
{{- end -}}
{{- range $name, $given := $values.secrets -}}
{{- if and $given.value $given.existingSecret -}}
{{- $problems = append $problems (printf "secrets.%s has both value and existingSecret; keep one" $name) -}}
{{- end -}}
{{- end -}}

{{- if and (has $delivery (list "redis" "push")) (not $secrets.redisUrl) -}}
{{- $problems = append $problems (printf "secrets.redisUrl is required: policy.delivery %s reads policies from Redis; set secrets.redisUrl.existingSecret" $delivery) -}}
{{- else if and $several (not $secrets.redisUrl) -}}
{{- $problems = append $problems "secrets.redisUrl is required: several replicas share captchas and limits in Redis; set secrets.redisUrl.existingSecret, or run one replica" -}}
{{- else if and (gt $workers 1) (not $secrets.redisUrl) -}}
{{- $problems = append $problems "secrets.redisUrl is required: config.application.workers share captchas and limits in Redis; set secrets.redisUrl.existingSecret, or run one worker" -}}
{{- end -}}
{{- if not $secrets.databaseUrl -}}
{{- if $several -}}
{{- $problems = append $problems "secrets.databaseUrl is required: several replicas share accounts in PostgreSQL; set secrets.databaseUrl.existingSecret" -}}
{{- else if gt $workers 1 -}}
{{- $problems = append $problems "secrets.databaseUrl is required: config.application.workers share accounts in PostgreSQL; set secrets.databaseUrl.existingSecret, or run one worker" -}}
{{- else if not $values.persistence.enabled -}}
{{- $problems = append $problems "secrets.databaseUrl is required: without it, accounts are in the embedded database, which persistence.enabled must keep" -}}
{{- end -}}
{{- $memory := dig "limits" "memory" "" $values.resources -}}
{{- if and $values.persistence.enabled (not $several) (regexMatch "^[0-9]+Mi$" $memory) -}}
{{- if lt (int (trimSuffix "Mi" $memory)) 1024 -}}
{{- $problems = append $problems "resources.limits.memory is too low for the embedded database, whose first start uses up to 740 MiB: use at least 1024Mi, or set secrets.databaseUrl" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.persistence.enabled $several -}}
{{- $problems = append $problems "persistence.enabled supports one replica only: set replicaCount to 1 and autoscaling.enabled to false, or disable it" -}}
{{- end -}}

{{- if and $values.helmTest.login.existingSecret (not $secrets.redisUrl) (not $isDev) -}}
{{- $problems = append $problems "helmTest.login needs secrets.redisUrl: without Redis, captchas are in the memory of one gateway; remove it" -}}
{{- end -}}

{{- $bindDn := dig "login" "ldap" "bindDn" "" $values.config -}}
{{- if and $bindDn (not (or $secrets.ldapBindPassword $values.extraEnv $values.envFrom)) -}}
{{- $problems = append $problems "secrets.ldapBindPassword is required: config.login.ldap.bindDn needs a password; set secrets.ldapBindPassword.existingSecret" -}}
{{- else if and $secrets.ldapBindPassword (not $bindDn) -}}
{{- $problems = append $problems "secrets.ldapBindPassword is only used with config.login.ldap.bindDn; remove it" -}}
{{- end -}}

{{- $hasPolicy := or $values.policy.files $values.policy.existingConfigMap -}}
{{- if and (has $delivery (list "push" "files")) (not $hasPolicy) -}}
{{- $problems = append $problems (printf "policy.files is required: policy.delivery %s needs model.conf, rules and exclusions.yaml; or set policy.existingConfigMap" $delivery) -}}
{{- else if and (has $delivery (list "redis" "volume")) $hasPolicy -}}
{{- $problems = append $problems (printf "policy.files is not used with policy.delivery %s; set policy.delivery to push or files, or remove the files" $delivery) -}}
{{- end -}}
{{- if and $values.policy.files $values.policy.existingConfigMap -}}
{{- $problems = append $problems "policy.files and policy.existingConfigMap are both set; keep one" -}}
{{- end -}}
{{- if and (eq $delivery "volume") (not (dig "policy" "directory" "" $values.config)) -}}
{{- $problems = append $problems "config.policy.directory is required: policy.delivery volume reads a directory that extraVolumeMounts provides" -}}
{{- end -}}

{{- $trust := dig "policy" "trust" dict $values.config -}}
{{- $isSigning := ne $values.policy.push.signingKey.existingSecret "" -}}
{{- if and $trust (has $delivery (list "files" "volume")) -}}
{{- $problems = append $problems (printf "config.policy.trust is not used with policy.delivery %s: files have no signatures; set policy.delivery to redis or push, or remove it" $delivery) -}}
{{- end -}}
{{- if and $trust (eq $delivery "push") -}}
{{- if gt (int64 (default 1 $trust.signatures)) 1 -}}
{{- $problems = append $problems (printf "policy.delivery push cannot sign for %d people: set policy.delivery to redis and publish with `postern policy propose`, `approve` and `push`" (int64 $trust.signatures)) -}}
{{- else if not $isSigning -}}
{{- $problems = append $problems "policy.push.signingKey.existingSecret is required: gateways with config.policy.trust reject what the Job publishes unsigned; create a key with `postern keys generate --for policy`" -}}
{{- end -}}
{{- range $trust.keys -}}
{{- if not (hasPrefix "ssh-" .) -}}
{{- $problems = append $problems (printf "config.policy.trust.keys: the Job of policy.delivery push cannot read %s; write the keys themselves" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $isSigning (or (ne $delivery "push") (not $trust)) -}}
{{- $problems = append $problems "policy.push.signingKey is only used with policy.delivery push and config.policy.trust; remove it" -}}
{{- end -}}

{{- if has (dig "ops" "host" "" $values.config) (list "" "127.0.0.1" "localhost" "::1") -}}
{{- $problems = append $problems "config.ops.host: the kubelet cannot reach a loopback address; use 0.0.0.0" -}}
{{- end -}}
{{- if and (not $values.extraContainers) (not $values.appContainers) (has (dig "application" "host" "0.0.0.0" $values.config) (list "127.0.0.1" "localhost" "::1")) -}}
{{- $problems = append $problems "config.application.host: clients cannot reach a loopback address; use 0.0.0.0" -}}
{{- end -}}

{{- if and $values.networkPolicy.enabled (include "postern.forwardAuthPort" .) (not $values.networkPolicy.forwardAuthFrom) -}}
{{- $problems = append $problems "networkPolicy.forwardAuthFrom is required when config.forwardAuth is enabled: list the proxies that may connect" -}}
{{- end -}}

{{- $proxies := list -}}
{{- range list "traefik" "envoyGateway" "contour" "istio" -}}
{{- if (index $values.forwardAuth .).enabled }}{{ $proxies = append $proxies (printf "forwardAuth.%s" .) }}{{ end -}}
{{- end -}}
{{- if and $proxies (not (include "postern.forwardAuthPort" .)) -}}
{{- $problems = append $problems (printf "config.forwardAuth is required with %s: set config.forwardAuth to enabled: true, host: 0.0.0.0" (join " and " $proxies)) -}}
{{- end -}}
{{- if eq (include "postern.forwardAuthPort" .) (toString (int64 $values.forwardAuth.grpcPort)) -}}
{{- $problems = append $problems (printf "forwardAuth.grpcPort is %d like config.forwardAuth.port: the Service needs two different ports" (int64 $values.forwardAuth.grpcPort)) -}}
{{- end -}}
{{- if and (dig "forwardAuth" "enabled" false $values.config) (not (dig "application" "trustedProxies" "" $values.config)) -}}
{{- $problems = append $problems "config.application.trustedProxies is required with config.forwardAuth: list the addresses of the proxies that may ask" -}}
{{- end -}}
{{- with $values.forwardAuth.envoyGateway -}}
{{- if and .enabled (not .httpRoutes) (not .grpcRoutes) -}}
{{- $problems = append $problems "forwardAuth.envoyGateway.httpRoutes is required: name the HTTPRoutes whose requests are checked, or set grpcRoutes" -}}
{{- end -}}
{{- end -}}
{{- with $values.forwardAuth.istio -}}
{{- if and .enabled (not .selector) (not .targetRefs) -}}
{{- $problems = append $problems "forwardAuth.istio.selector is required: set the labels of the workloads whose requests are checked, or targetRefs; without either, the policy would apply to every workload of its namespace" -}}
{{- end -}}
{{- if and .enabled .selector .targetRefs -}}
{{- $problems = append $problems "forwardAuth.istio has both selector and targetRefs; keep one" -}}
{{- end -}}
{{- end -}}

{{- if and $values.networkPolicy.enabled (include "postern.consolePort" .) (not $values.networkPolicy.consoleFrom) -}}
{{- $problems = append $problems "networkPolicy.consoleFrom is required when config.console.host is not a loopback address: list the proxies that may connect" -}}
{{- end -}}
{{- $isEncrypted := or (dig "console" "tls" "" $values.config) (hasPrefix "https://" (dig "console" "url" "" $values.config)) -}}
{{- if and (include "postern.consolePort" .) (not $isEncrypted) -}}
{{- $problems = append $problems "config.console.host is not a loopback address, so passwords would cross the network in plain text: set config.console.tls, or set config.console.url to the https:// address of the proxy that terminates TLS" -}}
{{- end -}}

{{- if $values.appContainers -}}
{{- $order := include "postern.appOrder" . -}}
{{/* Chart.yaml excludes versions below 1.26, and `helm lint` reports such a version. */}}
{{- if and (eq $values.appShutdown.order "native") (semverCompare ">=1.26.0-0 <1.29.0-0" .Capabilities.KubeVersion.Version) -}}
{{- $problems = append $problems (printf "appShutdown.order native requires Kubernetes 1.29, and this cluster runs %s; use auto or preStop" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- range $values.appContainers -}}
{{- if and (eq $order "preStop") (dig "lifecycle" "preStop" "" .) -}}
{{- $problems = append $problems (printf "appContainers %s has its own preStop hook, which this cluster needs for a sleep until Postern has exited; move it to extraContainers, or use appShutdown.order native on Kubernetes 1.29" .name) -}}
{{- end -}}
{{- if ne (dig "restartPolicy" "Always" .) "Always" -}}
{{- $problems = append $problems (printf "appContainers %s has restartPolicy %s, so it would have to exit before Postern starts; remove restartPolicy" .name .restartPolicy) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- range $values.readyUpstreams -}}
{{- $upstream := index (default dict $values.config.upstreams) . -}}
{{- if not $upstream -}}
{{- $problems = append $problems (printf "readyUpstreams: %q is not defined in config.upstreams" .) -}}
{{- else if not $upstream.healthCheck -}}
{{- $problems = append $problems (printf "readyUpstreams: config.upstreams.%s.healthCheck is required, or the upstream always counts as healthy" .) -}}
{{- end -}}
{{- end -}}

{{- $deadline := div (add (int64 $values.config.shutdown.deadlineMs) 999) 1000 -}}
{{- $workers := toString $values.config.application.workers -}}
{{- $spare := ternary 0 5 (eq $workers "1") -}}
{{- $needed := add $deadline $spare (include "postern.appSeconds" . | int64) -}}
{{- if le (int64 (include "postern.terminationGracePeriodSeconds" .)) $needed -}}
{{- $problems = append $problems (printf "terminationGracePeriodSeconds must be greater than %d (config.shutdown.deadlineMs, 5 seconds for workers, and appShutdown.seconds), or requests in progress are killed" $needed) -}}
{{- end -}}
{{- $pdb := $values.podDisruptionBudget -}}
{{- if and $pdb.enabled (not (kindIs "invalid" $pdb.minAvailable)) (not (kindIs "invalid" $pdb.maxUnavailable)) -}}
{{- $problems = append $problems "podDisruptionBudget has both minAvailable and maxUnavailable; keep one" -}}
{{- end -}}
{{- if and $values.autoscaling.enabled (gt (int64 $values.autoscaling.minReplicas) (int64 $values.autoscaling.maxReplicas)) -}}
{{- $problems = append $problems "autoscaling.minReplicas is greater than autoscaling.maxReplicas; lower it" -}}
{{- end -}}
{{- if and $values.ingress.enabled (not $values.ingress.hosts) -}}
{{- $problems = append $problems "ingress.hosts is required: set at least one host" -}}
{{- end -}}
{{- if and $values.httpRoute.enabled (not $values.httpRoute.parentRefs) -}}
{{- $problems = append $problems "httpRoute.parentRefs is required: set the Gateway" -}}
{{- end -}}
{{- if and $values.grpcRoute.enabled (not $values.grpcRoute.parentRefs) -}}
{{- $problems = append $problems "grpcRoute.parentRefs is required: set the Gateway" -}}
{{- end -}}
{{- if and $values.grpcRoute.enabled (not (include "postern.http2Port" .)) -}}
{{- $problems = append $problems "grpcRoute needs HTTP/2 on the public port: set config.application.h2c to true, or tls.existingSecret without config.application.http2: false" -}}
{{- end -}}
{{- if eq (include "postern.h2cPort" .) (toString (int64 $values.service.port)) -}}
{{- $problems = append $problems (printf "service.h2c.port is %d like service.port: the Service needs two different ports" (int64 $values.service.port)) -}}
{{- end -}}
{{- $toH2c := false -}}
{{- range $values.httpRoute.rules }}{{ if eq (default "http" .port) "h2c" }}{{ $toH2c = true }}{{ end }}{{ end -}}
{{- range $values.ingress.hosts }}{{ range .paths }}{{ if eq (default "http" .port) "h2c" }}{{ $toH2c = true }}{{ end }}{{ end }}{{ end -}}
{{- if and $toH2c (not (include "postern.h2cPort" .)) -}}
{{- $problems = append $problems "port h2c in httpRoute.rules and ingress.hosts needs config.application.h2c and no TLS on the public port: set config.application.h2c to true" -}}
{{- end -}}

{{- range splitList "\n" (include "postern.missingKinds" . | trim) -}}
{{- if . }}{{ $problems = append $problems . }}{{ end -}}
{{- end -}}

{{- if $problems -}}
{{/* Not `fail`: `required` lets `helm lint` pass without values in every Helm 3. */}}
{{- required (printf "\n%s\n" (join "\n" $problems)) nil -}}
{{- end -}}
{{- end -}}
