// Helm validates values against this schema before it renders anything. The part under `config` is
// config/schema.json without its secrets, so that a setting is described once.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

const chart = join(import.meta.dirname, '..', '..', 'helm', 'postern')
const values = parse(readFileSync(join(chart, 'values.yaml'), 'utf8'))

const text = (description = '', more = {}) => ({ type: 'string', description, ...more })
const choice = (values, description = '') => ({ type: 'string', enum: values, description })
const flag = (description = '') => ({ type: 'boolean', description })
const number = (minimum, maximum, description = '') => {
  return { type: 'integer', minimum, maximum, description }
}
const optional = (schema) => ({ ...schema, type: [schema.type, 'null'].flat() })
const list = (items, description = '') => ({ type: 'array', items, description })
/** An object of Kubernetes or another program, which validates it itself. */
const theirs = (description = '') => ({ type: 'object', description })
const theirsEach = (description = '') => list({ type: 'object' }, description)
const texts = (description = '') => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
})
const section = (properties, description = '', required = []) => ({
  type: 'object',
  additionalProperties: false,
  description,
  properties,
  ...(required.length > 0 && { required }),
})

const port = (description) => number(1, 65_535, description)
/** Name of a port of the Service. */
const servicePort = choice(['http', 'h2c'], 'Port of the Service. Default: http.')
const name = (description = '') => text(description, { maxLength: 253 })
const quantity = (description = '') => text(description, { pattern: '^[0-9.]+([EPTGMk]i?|m)?$' })
const percentOrCount = {
  type: ['integer', 'string', 'null'],
  pattern: '^[0-9]{1,3}%$',
  minimum: 0,
}

const secret = (what) =>
  section(
    {
      value: text(`${what}. The chart creates a Secret from it.`),
      existingSecret: name('Name of an existing Secret to use instead of value.'),
      key: text('Key in the Secret.', { minLength: 1 }),
    },
    `${what}.`,
  )

const probe = (description) =>
  section(
    {
      initialDelaySeconds: number(0, 3600),
      periodSeconds: number(1, 3600),
      timeoutSeconds: number(1, 3600),
      successThreshold: number(1, 100),
      failureThreshold: number(1, 10_000),
    },
    description,
  )

const policyFiles = {
  type: 'object',
  description: 'Policy files: file name to content.',
  patternProperties: {
    '^(model\\.conf|exclusions\\.yaml|[A-Za-z0-9][A-Za-z0-9._-]*\\.csv|README[A-Za-z0-9._-]*|tests/[A-Za-z0-9][A-Za-z0-9._-]*_test\\.yaml)$':
      { type: 'string' },
  },
  additionalProperties: false,
}

/** Helm makes a string of `--set threshold=0.2`. */
const threshold = { type: ['number', 'string'], minimum: 0, pattern: '^[0-9]+([.][0-9]+)?$' }
const alertOverride = section({ for: text(), labels: texts(), annotations: texts() })

function alertNames() {
  const { groups } = parse(readFileSync(join(chart, 'alerts', 'postern.rules.yaml'), 'utf8'))
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert))
}

/** `config` of the chart: the settings of a gateway without secrets, because it becomes a ConfigMap. */
function configSection(settings) {
  const { $schema: _, title: __, ...config } = withoutSecrets(settings, values.config)
  const { application, ops, policy, shutdown, tls } = config.properties
  // Follows from policy.delivery.
  delete policy.properties.source
  for (const { properties } of [application, ops]) properties.port.minimum = 1
  application.required = ['port', 'dataDirectory']
  application.properties.dataDirectory.pattern = '^/'
  ops.required = ['host', 'port']
  shutdown.required = ['deadlineMs']
  // tls.existingSecret provides the files.
  delete tls.required
  return { ...config, required: ['application', 'ops', 'shutdown'] }
}

/** `value`: what values.yaml sets, which is then the default of the chart. */
function withoutSecrets(setting, value) {
  const { properties, patternProperties, items, default: _, ...rest } = setting
  const isScalar = ['string', 'number', 'boolean'].includes(typeof value)
  return {
    ...rest,
    ...(isScalar && {
      description: `${rest.description.replace(/ Default: .*/, '')} Default: ${value}.`,
    }),
    ...(properties && { properties: each(properties, value) }),
    ...(patternProperties && { patternProperties: each(patternProperties) }),
    ...(items && { items: withoutSecrets(items) }),
  }
}

function each(settings, values) {
  const open = Object.entries(settings).filter(([, { writeOnly }]) => writeOnly !== true)
  return Object.fromEntries(
    open.map(([key, setting]) => [key, withoutSecrets(setting, values?.[key])]),
  )
}

const schemaOf = (settings) => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of the Postern chart',
  ...section({
    enabled: flag('For a chart that has this one as a dependency with condition: postern.enabled.'),
    // Open, because a chart that has this one as a dependency puts its own values there.
    global: {
      type: 'object',
      properties: { imageRegistry: text('Registry of the image, instead of image.registry.') },
    },
    replicaCount: number(0, 10_000, 'Number of gateways. Not used with autoscaling.'),
    image: section({
      registry: text(),
      repository: text('Repository that you pushed the image to.'),
      tag: text('Tag of the image; latest is rejected. Empty: the appVersion of the chart.'),
      digest: text('Digest of the image. Overrides the tag.', {
        pattern: '^(sha256:[0-9a-f]{64})?$',
      }),
      pullPolicy: choice(['Always', 'IfNotPresent', 'Never']),
    }),
    imagePullSecrets: list(section({ name: name() }, '', ['name'])),
    nameOverride: name(),
    fullnameOverride: name(),
    namespaceOverride: name('Namespace of every object. Empty: the namespace of the release.'),
    commonLabels: texts('Labels of every object.'),
    deploymentAnnotations: texts('Annotations of the Deployment.'),
    podLabels: texts(),
    podAnnotations: texts(),
    serviceAccount: section({ create: flag(), name: name(), annotations: texts() }),
    config: configSection(settings),
    allowDevMode: flag('Allow config.application.mode dev.'),
    secrets: section({
      jwtSecret: secret('Secret that signs tokens'),
      databaseUrl: secret('URL of PostgreSQL'),
      redisUrl: secret('URL of Redis'),
      ldapBindPassword: secret('Password of config.login.ldap.bindDn'),
    }),
    keys: section({ existingSecret: name('Name of a Secret that holds a key directory.') }),
    tls: section({ existingSecret: name('Name of a Secret with tls.crt and tls.key.') }),
    certificateAuthority: section({ existingConfigMap: name(), key: text('', { minLength: 1 }) }),
    policy: section({
      delivery: choice(['redis', 'push', 'files', 'volume'], 'How gateways get the policy.'),
      files: policyFiles,
      existingConfigMap: name(),
      items: list(section({ key: text(), path: text() }, '', ['key', 'path'])),
      push: section({
        author: text('', { minLength: 1 }),
        message: text(),
        waitSeconds: number(0, 3600),
        allowEmpty: flag(),
        noTests: flag(),
        allowSlow: flag(),
        signingKey: section({
          existingSecret: name('Name of a Secret with the private key that signs the policy.'),
          key: text('', { minLength: 1 }),
        }),
      }),
      job: section({
        backoffLimit: number(0, 100),
        activeDeadlineSeconds: number(10, 86_400),
        resources: theirs(),
        extraEnv: theirsEach(),
      }),
    }),
    service: section({
      type: choice(['ClusterIP', 'NodePort', 'LoadBalancer']),
      port: port('Port of the Service.'),
      nodePort: optional(port('')),
      annotations: texts(),
      externalTrafficPolicy: choice(['', 'Cluster', 'Local']),
      loadBalancerClass: text(),
      loadBalancerSourceRanges: list({ type: 'string' }),
      ipFamilyPolicy: choice(['', 'SingleStack', 'PreferDualStack', 'RequireDualStack']),
      ipFamilies: list({ type: 'string', enum: ['IPv4', 'IPv6'] }),
      h2c: section(
        {
          port: port('Port of the Service for HTTP/2 without TLS.'),
          appProtocol: text('', { minLength: 1 }),
        },
        'Second port of the Service, if config.application.h2c is true.',
      ),
      extraPorts: theirsEach(),
    }),
    ingress: section({
      enabled: flag(),
      className: name(),
      annotations: texts(),
      hosts: list(
        section(
          {
            host: text(),
            paths: list(
              section(
                {
                  path: text(),
                  pathType: choice(['Prefix', 'Exact', 'ImplementationSpecific']),
                  port: servicePort,
                },
                '',
                ['path'],
              ),
            ),
          },
          '',
          ['host'],
        ),
      ),
      tls: theirsEach(),
    }),
    httpRoute: section({
      enabled: flag(),
      annotations: texts(),
      parentRefs: theirsEach('Gateways that the HTTPRoute attaches to.'),
      hostnames: list({ type: 'string' }),
      rules: list(
        section({
          matches: theirsEach(),
          filters: theirsEach(),
          timeouts: theirs(),
          port: servicePort,
        }),
      ),
    }),
    grpcRoute: section({
      enabled: flag(),
      annotations: texts(),
      parentRefs: theirsEach('Gateways that the GRPCRoute attaches to.'),
      hostnames: list({ type: 'string' }),
      rules: list(section({ matches: theirsEach(), filters: theirsEach() })),
    }),
    forwardAuth: section({
      grpcPort: port('Port of the Service for checks over gRPC.'),
      traefik: section({ enabled: flag('Create Middlewares of Traefik.') }),
      envoyGateway: section({
        enabled: flag('Create a SecurityPolicy of Envoy Gateway.'),
        protocol: choice(['http', 'grpc'], 'How Envoy asks.'),
        httpRoutes: list(name('Name of an HTTPRoute whose requests are checked.')),
        grpcRoutes: list(name('Name of a GRPCRoute whose calls are checked.')),
      }),
      contour: section({ enabled: flag('Create an ExtensionService of Contour.') }),
      istio: section({
        enabled: flag('Create an AuthorizationPolicy of Istio.'),
        provider: text('Name of the extension provider.', { minLength: 1 }),
        namespace: name(),
        selector: texts('Labels of the workloads whose requests are checked.'),
        targetRefs: theirsEach('Gateways or Services whose requests are checked.'),
        ownPaths: list(text('', { pattern: '^/' }), 'Paths that are not checked.'),
      }),
    }),
    networkPolicy: section({
      enabled: flag(),
      from: theirsEach('Peers that may connect to the public port.'),
      opsFrom: theirsEach('Peers that may connect to the ops port.'),
      forwardAuthFrom: theirsEach('Proxies that may connect to the forward-auth port.'),
      consoleFrom: theirsEach('Proxies that may connect to the console.'),
      extraIngress: theirsEach(),
      egress: theirsEach(),
    }),
    metrics: section({
      serviceMonitor: section({
        enabled: flag(),
        labels: texts(),
        interval: text(),
        scrapeTimeout: text(),
        relabelings: theirsEach(),
        metricRelabelings: theirsEach(),
      }),
      prometheusRule: section({
        enabled: flag(),
        labels: texts(),
        matchers: text('PromQL matchers that select the gateways of this release.'),
        disabled: list({ type: 'string', enum: alertNames() }, 'Alerts to leave out.'),
        overrides: {
          type: 'object',
          description: 'Changes to alerts by name.',
          propertyNames: { enum: alertNames() },
          additionalProperties: alertOverride,
        },
        thresholds: section(
          Object.fromEntries(
            Object.keys(values.metrics.prometheusRule.thresholds).map((alert) => [
              alert,
              threshold,
            ]),
          ),
          'When alerts fire.',
        ),
      }),
      dashboard: section({ enabled: flag(), labels: texts(), annotations: texts() }),
    }),
    resources: theirs(),
    autoscaling: section({
      enabled: flag(),
      minReplicas: number(1, 10_000),
      maxReplicas: number(1, 10_000),
      targetCPUUtilizationPercentage: optional(number(1, 1000)),
      targetMemoryUtilizationPercentage: optional(number(1, 1000)),
      metrics: theirsEach(),
      behavior: theirs(),
    }),
    podDisruptionBudget: section({
      enabled: flag(),
      minAvailable: percentOrCount,
      maxUnavailable: percentOrCount,
    }),
    persistence: section({
      enabled: flag(),
      existingClaim: name(),
      size: quantity(),
      storageClass: name(),
      accessModes: list({ type: 'string' }),
      sizeLimit: quantity(),
    }),
    podSecurityContext: theirs(),
    securityContext: theirs(),
    startupProbe: probe('Startup probe: how long a gateway may take to start.'),
    livenessProbe: probe('Liveness probe: when a gateway that hangs is restarted.'),
    readinessProbe: probe('Readiness probe: when a gateway without a policy gets no requests.'),
    readyUpstreams: list(
      { type: 'string' },
      'Names of config.upstreams that must have a healthy target for a pod to be ready.',
    ),
    lifecycle: theirs(),
    terminationGracePeriodSeconds: optional(number(1, 172_800)),
    minReadySeconds: number(0, 3600),
    revisionHistoryLimit: number(0, 1000),
    strategy: theirs(),
    nodeSelector: texts(),
    tolerations: theirsEach(),
    affinity: theirs(),
    topologySpreadConstraints: theirsEach(),
    priorityClassName: name(),
    runtimeClassName: name(),
    hostAliases: theirsEach(),
    dnsPolicy: choice(['', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    dnsConfig: theirs(),
    extraEnv: theirsEach(),
    envFrom: theirsEach(),
    extraVolumes: theirsEach(),
    extraVolumeMounts: theirsEach(),
    extraPorts: theirsEach(),
    appContainers: theirsEach(),
    appShutdown: section({
      order: choice(['auto', 'native', 'preStop']),
      seconds: number(0, 86_400),
    }),
    extraContainers: theirsEach(),
    initContainers: theirsEach(),
    helmTest: section({
      login: section({ existingSecret: name('Name of a Secret with username and password.') }),
    }),
    extraObjects: list({ type: ['object', 'string'] }),
  }),
})

function withoutEmpty(value) {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key, it]) => key !== 'description' || it !== '')
  return Object.fromEntries(kept.map(([key, it]) => [key, withoutEmpty(it)]))
}

/** helm/postern/values.schema.json. */
export function helmSchema(read) {
  const schema = schemaOf(JSON.parse(read('config/schema.json')))
  return `${JSON.stringify(withoutEmpty(schema), undefined, 2)}\n`
}
