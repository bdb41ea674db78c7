// Writes helm/postern/values.schema.json: what Helm holds values against before it renders anything.
// The part under `config` is config/schema.json without its secrets, so that a setting is described
// once. Run it after `postern config schema`; with --print it only shows what it would write.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const target = join(root, 'helm', 'postern', 'values.schema.json')

const text = (description = '', more = {}) => ({ type: 'string', description, ...more })
const choice = (values, description = '') => ({ type: 'string', enum: values, description })
const flag = (description = '') => ({ type: 'boolean', description })
const number = (minimum, maximum, description = '') => {
  return { type: 'integer', minimum, maximum, description }
}
const optional = (schema) => ({ ...schema, type: [schema.type, 'null'].flat() })
const list = (items, description = '') => ({ type: 'array', items, description })
/** What Kubernetes or another program owns is theirs to check. */
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
      value: text(`${what} itself; the chart makes a Secret of it.`),
      existingSecret: name('A Secret that holds it instead.'),
      key: text('Its key in that Secret.', { minLength: 1 }),
    },
    what,
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
  description: 'The policy, name to content.',
  patternProperties: {
    '^(model\\.conf|exclusions\\.yaml|[A-Za-z0-9][A-Za-z0-9._-]*\\.csv|README[A-Za-z0-9._-]*|tests/[A-Za-z0-9][A-Za-z0-9._-]*_test\\.yaml)$':
      { type: 'string' },
  },
  additionalProperties: false,
}

/** `config` of the chart: the settings of a gateway without those that would stand in a ConfigMap. */
function configSection() {
  const whole = JSON.parse(readFileSync(join(root, 'config', 'schema.json'), 'utf8'))
  const { $schema: _, title: __, ...config } = withoutSecrets(whole)
  const { application, ops, policy, shutdown, tls } = config.properties
  // policy.delivery says it.
  delete policy.properties.source
  for (const { properties } of [application, ops]) properties.port.minimum = 1
  application.required = ['port', 'dataDirectory']
  application.properties.dataDirectory.pattern = '^/'
  ops.required = ['host', 'port']
  shutdown.required = ['deadlineMs']
  // tls.existingSecret brings the files.
  delete tls.required
  return { ...config, required: ['application', 'ops', 'shutdown'] }
}

function withoutSecrets(setting) {
  const { properties, patternProperties, items, default: _, ...rest } = setting
  return {
    ...rest,
    ...(properties && { properties: each(properties) }),
    ...(patternProperties && { patternProperties: each(patternProperties) }),
    ...(items && { items: withoutSecrets(items) }),
  }
}

function each(settings) {
  const open = Object.entries(settings).filter(([, { writeOnly }]) => writeOnly !== true)
  return Object.fromEntries(open.map(([key, setting]) => [key, withoutSecrets(setting)]))
}

const schema = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Values of the Postern chart',
  ...section({
    // What Helm itself adds for a chart that is part of another.
    global: theirs(),
    replicaCount: number(0, 10_000, 'How many gateways, where nothing scales them.'),
    image: section({
      registry: text(),
      repository: text('Where the image was pushed.'),
      tag: text("The chart's appVersion when empty."),
      digest: text('Wins over the tag.', { pattern: '^(sha256:[0-9a-f]{64})?$' }),
      pullPolicy: choice(['Always', 'IfNotPresent', 'Never']),
    }),
    imagePullSecrets: list(section({ name: name() }, '', ['name'])),
    nameOverride: name(),
    fullnameOverride: name(),
    commonLabels: texts('On every object.'),
    podLabels: texts(),
    podAnnotations: texts(),
    serviceAccount: section({ create: flag(), name: name(), annotations: texts() }),
    config: configSection(),
    allowDevMode: flag('Allows application.mode dev.'),
    secrets: section({
      jwtSecret: secret('What signs tokens'),
      databaseUrl: secret('The address of PostgreSQL'),
      redisUrl: secret('The address of Redis'),
    }),
    keys: section({ existingSecret: name('A Secret of keys, mounted whole.') }),
    tls: section({ existingSecret: name('A Secret with tls.crt and tls.key, mounted whole.') }),
    certificateAuthority: section({ existingConfigMap: name(), key: text('', { minLength: 1 }) }),
    policy: section({
      delivery: choice(['redis', 'push', 'files', 'volume'], 'How the policy gets to gateways.'),
      files: policyFiles,
      existingConfigMap: name(),
      items: list(section({ key: text(), path: text() }, '', ['key', 'path'])),
      push: section({
        author: text('', { minLength: 1 }),
        message: text(),
        waitSeconds: number(0, 3600),
        allowEmpty: flag(),
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
      port: port('The port of the Service.'),
      nodePort: optional(port('')),
      annotations: texts(),
      externalTrafficPolicy: choice(['', 'Cluster', 'Local']),
      loadBalancerClass: text(),
      loadBalancerSourceRanges: list({ type: 'string' }),
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
                { path: text(), pathType: choice(['Prefix', 'Exact', 'ImplementationSpecific']) },
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
      parentRefs: theirsEach('The Gateways it hangs on.'),
      hostnames: list({ type: 'string' }),
      rules: list(section({ matches: theirsEach(), filters: theirsEach(), timeouts: theirs() })),
    }),
    networkPolicy: section({
      enabled: flag(),
      from: theirsEach('Who may reach the public port.'),
      opsFrom: theirsEach('Who may reach the ops port.'),
      forwardAuthFrom: theirsEach('Who may ask on the port of config.forwardAuth.'),
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
      prometheusRule: section({ enabled: flag(), labels: texts() }),
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
    startupProbe: probe('How long a start may take.'),
    livenessProbe: probe('When one that hangs is restarted.'),
    readinessProbe: probe('When one that cannot decide gets no requests.'),
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
    hostAliases: theirsEach(),
    dnsConfig: theirs(),
    extraEnv: theirsEach(),
    envFrom: theirsEach(),
    extraVolumes: theirsEach(),
    extraVolumeMounts: theirsEach(),
    extraPorts: theirsEach(),
    appContainers: theirsEach(),
    appShutdown: section({
      order: choice(['native', 'preStop']),
      seconds: number(0, 86_400),
    }),
    extraContainers: theirsEach(),
    initContainers: theirsEach(),
    extraObjects: list({ type: ['object', 'string'] }),
  }),
}

function withoutEmpty(value) {
  if (Array.isArray(value)) return value.map(withoutEmpty)
  if (typeof value !== 'object' || value === null) return value
  const kept = Object.entries(value).filter(([key, it]) => key !== 'description' || it !== '')
  return Object.fromEntries(kept.map(([key, it]) => [key, withoutEmpty(it)]))
}

const written = `${JSON.stringify(withoutEmpty(schema), undefined, 2)}\n`
if (process.argv.includes('--print')) process.stdout.write(written)
else writeFileSync(target, written)
