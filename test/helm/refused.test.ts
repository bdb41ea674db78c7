import { describe, expect, test } from 'vitest'
import { lint, refusal, validate } from '../support/chart.ts'

const good = ['existing-secrets']
/** What objects of other proxies need besides. */
const forwardAuth =
  'config.forwardAuth.enabled=true,config.forwardAuth.host=0.0.0.0,config.application.trustedProxies={10.0.0.0/8},networkPolicy.forwardAuthFrom[0].podSelector.matchLabels.app=envoy'

/** Our own lines in what helm says: it puts the place in the template before them, and 3.6 two marks around. */
function lines(text: string): readonly string[] {
  const [, said = ''] =
    /(?:HELM_ERR_START|execution error at \(.*\): )\n([\s\S]*?)\n(?:HELM_ERR_END|\n)/.exec(text) ??
    []
  return said.split('\n')
}

describe('values that cannot be meant', () => {
  test.each([
    ['an unknown value', 'replicas=3', /\breplicas\b.*not allowed/],
    ['an unknown value further in', 'image.tags=1', /image\b.*\btags\b.*not allowed/],
    ['an unknown setting', 'config.aplication.mode=prod', /config\b.*\baplication\b.*not allowed/],
    ['a setting out of bounds', 'config.jwt.timeout=0', /config.jwt.timeout\b.*1/],
    ['a route without a path', 'config.routes[1].upstream=orders', /config.routes.1\b.*\bpath\b/],
    [
      'a signing secret for a ConfigMap',
      'config.jwt.secret=x',
      /config.jwt\b.*\bsecret\b.*not allowed/,
    ],
    [
      'a database password for a ConfigMap',
      'config.database.url=x',
      /config.database\b.*\burl\b.*not allowed/,
    ],
    [
      'a Redis password for a ConfigMap',
      'config.redis.url=x',
      /config.redis\b.*\burl\b.*not allowed/,
    ],
    [
      'a directory password for a ConfigMap',
      'config.login.ldap.bindPassword=x',
      /config.login.ldap\b.*\bbindPassword\b.*not allowed/,
    ],
    [
      'a source beside policy.delivery',
      'config.policy.source=files',
      /config.policy\b.*\bsource\b.*not allowed/,
    ],
    ['an unknown delivery', 'policy.delivery=mail', /policy.delivery\b.*must be one of/],
    [
      'a file that is none of a policy',
      'policy.files.rules\\.txt=x',
      /policy.files\b.*\brules\.txt\b.*not allowed/,
    ],
    [
      'an unknown way to ask',
      'forwardAuth.envoyGateway.protocol=tcp',
      /envoyGateway.protocol\b.*must be one of/,
    ],
    ['a text for a number', 'replicaCount=three', /replicaCount\b.*integer/],
    [
      'a threshold of an alert that has none',
      'metrics.prometheusRule.thresholds.PosternBug=1',
      /thresholds\b.*\bPosternBug\b.*not allowed/,
    ],
    [
      'a threshold that is no number',
      'metrics.prometheusRule.thresholds.PosternFaults=5%',
      /thresholds.PosternFaults\b.*oes not match pattern/,
    ],
    [
      'a change to an alert that does not exist',
      'metrics.prometheusRule.overrides.PosternBugs.for=1m',
      /ropert.*\bPosternBugs\b/,
    ],
    [
      'an alert that does not exist',
      'metrics.prometheusRule.disabled={PosternBugs}',
      /prometheusRule.disabled.0\b.*must be one of/,
    ],
  ])('are refused by the schema: %s', (_, set, message) => {
    const said = refusal({ files: good, set: [set] })

    // Versions of Helm differ in the words, not in what they name.
    expect(said).toContain("values don't meet the specifications of the schema")
    expect(said).toMatch(message)
  })

  test.each([
    ['latest', 'image.tag=latest', 'image.tag: "latest" is not a version'],
    ['mode dev', 'config.application.mode=dev', 'config.application.mode: "dev" skips'],
    ['a secret twice', 'secrets.redisUrl.value=redis://r', 'secrets.redisUrl has both value and'],
    [
      'a directory without the password of its account',
      'config.login.ldap.bindDn=cn=reader,config.login.ldap.urls={ldaps://a}',
      'secrets.ldapBindPassword is required: ',
    ],
    [
      'a password without a directory',
      'secrets.ldapBindPassword.existingSecret=postern',
      'secrets.ldapBindPassword is only used with config.login.ldap.bindDn',
    ],
    [
      'an ops port that the kubelet cannot reach',
      'config.ops.host=127.0.0.1',
      'config.ops.host: the kubelet cannot reach',
    ],
    [
      'too short an end',
      'terminationGracePeriodSeconds=30',
      'terminationGracePeriodSeconds must be greater than',
    ],
    ['a policy that is not there', 'policy.delivery=push', 'policy.files is required'],
    [
      'trust in files',
      'policy.delivery=volume,config.policy.directory=/p,config.policy.trust.keys={ssh-ed25519 A a}',
      'config.policy.trust is not used with policy.delivery volume',
    ],
    [
      'a Job without a key that is trusted',
      'policy.delivery=push,policy.files.policy\\.csv=x,config.policy.trust.keys={ssh-ed25519 A a}',
      'policy.push.signingKey.existingSecret is required',
    ],
    [
      'a Job that signs for two',
      'policy.delivery=push,policy.files.policy\\.csv=x,config.policy.trust.keys={ssh-ed25519 A a},config.policy.trust.signatures=2',
      'policy.delivery push cannot sign for 2 people',
    ],
    [
      'keys in a file that the Job does not have',
      'policy.delivery=push,policy.files.policy\\.csv=x,policy.push.signingKey.existingSecret=ci,config.policy.trust.keys={/etc/keys}',
      'the Job of policy.delivery push cannot read /etc/keys',
    ],
    [
      'a key that signs nothing',
      'policy.push.signingKey.existingSecret=ci',
      'policy.push.signingKey is only used with',
    ],
    ['a policy nobody reads', 'policy.files.policy\\.csv=x', 'policy.files is not used'],
    [
      'a directory that is not named',
      'policy.delivery=volume',
      'config.policy.directory is required',
    ],
    ['one volume for many', 'persistence.enabled=true', 'persistence.enabled supports one'],
    [
      'both budgets',
      'podDisruptionBudget.minAvailable=1,podDisruptionBudget.maxUnavailable=1',
      'podDisruptionBudget has both minAvailable and',
    ],
    [
      'a chart that is switched off by itself',
      'enabled=false',
      'enabled: false has an effect only in a chart that has this one as a dependency',
    ],
    ['an Ingress for no host', 'ingress.enabled=true', 'ingress.hosts is required'],
    [
      'a console that everyone in the cluster reaches',
      'config.console.enabled=true,config.console.host=0.0.0.0,config.console.url=https://console.example.com',
      'networkPolicy.consoleFrom is required when config.console.host is not a loopback address',
    ],
    [
      'a console without TLS',
      'config.console.enabled=true,config.console.host=0.0.0.0,networkPolicy.consoleFrom[0].podSelector.matchLabels.app=proxy',
      'config.console.host is not a loopback address, so passwords would cross the network',
    ],
    [
      'a Middleware that asks where nobody answers',
      'forwardAuth.traefik.enabled=true',
      'config.forwardAuth is required with forwardAuth.traefik: set',
    ],
    [
      'objects of two proxies that ask where nobody answers',
      'forwardAuth.contour.enabled=true,forwardAuth.istio.enabled=true,forwardAuth.istio.selector.app=x',
      'config.forwardAuth is required with forwardAuth.contour and forwardAuth.istio: set',
    ],
    [
      'proxies that are not named',
      'config.forwardAuth.enabled=true',
      'config.application.trustedProxies is required with config.forwardAuth',
    ],
    [
      'a SecurityPolicy for no route',
      `${forwardAuth},forwardAuth.envoyGateway.enabled=true`,
      'forwardAuth.envoyGateway.httpRoutes is required',
    ],
    [
      'an AuthorizationPolicy for a whole namespace',
      `${forwardAuth},forwardAuth.istio.enabled=true`,
      'forwardAuth.istio.selector is required: ',
    ],
    [
      'an AuthorizationPolicy with two kinds of targets',
      `${forwardAuth},forwardAuth.istio.enabled=true,forwardAuth.istio.selector.app=x,forwardAuth.istio.targetRefs[0].name=x`,
      'forwardAuth.istio has both selector and targetRefs',
    ],
    [
      'one port for two protocols of forward-auth',
      `${forwardAuth},forwardAuth.grpcPort=9101`,
      'forwardAuth.grpcPort is 9101 like config.forwardAuth.port',
    ],
    ['a route from nowhere', 'httpRoute.enabled=true', 'httpRoute.parentRefs is required'],
    [
      'a route for gRPC from nowhere',
      'grpcRoute.enabled=true,config.application.h2c=true',
      'grpcRoute.parentRefs is required',
    ],
    [
      'a route for gRPC to HTTP/1.1',
      'grpcRoute.enabled=true,grpcRoute.parentRefs[0].name=public',
      'grpcRoute needs HTTP/2 on the public port: set config.application.h2c to true',
    ],
    [
      'a route for gRPC to TLS without HTTP/2',
      'grpcRoute.enabled=true,grpcRoute.parentRefs[0].name=public,tls.existingSecret=t,config.application.http2=false',
      'grpcRoute needs HTTP/2 on the public port',
    ],
    [
      'one port for two protocols',
      'config.application.h2c=true,service.h2c.port=80',
      'service.h2c.port is 80 like service.port',
    ],
    [
      'a rule to a port that is not there',
      'httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,httpRoute.rules[0].port=h2c',
      'port h2c in httpRoute.rules and ingress.hosts needs config.application.h2c',
    ],
    [
      'a path to a port that is not there',
      'ingress.enabled=true,ingress.hosts[0].host=a.example.com,ingress.hosts[0].paths[0].path=/,ingress.hosts[0].paths[0].port=h2c',
      'port h2c in httpRoute.rules and ingress.hosts needs config.application.h2c',
    ],
  ])('are refused with one line: %s', (_, set, line) => {
    const [said = '', ...rest] = lines(refusal({ files: good, set: [set] }))

    expect(said).toContain(line)
    expect(rest).toEqual([])
  })

  test('go through when they are meant', () => {
    const set = ['config.application.mode=dev', 'allowDevMode=true']

    expect(refusal({ files: good, set })).toBe('')
  })
})

describe('a secret that is missing', () => {
  test('is named where helm test logs in', () => {
    const set = ['helmTest.login.existingSecret=probe', 'policy.files.policy\\.csv=x']

    expect(lines(refusal({ files: ['files-policy'], set }))).toEqual([
      expect.stringMatching(/^helmTest\.login needs secrets\.redisUrl: /),
    ])
  })

  test.each(['jwtSecret', 'databaseUrl', 'redisUrl'])('is named: %s', (name) => {
    const said = refusal({ files: good, set: [`secrets.${name}.existingSecret=`] })

    expect(lines(said)).toEqual([
      expect.stringMatching(new RegExp(`^secrets\\.${name} is required: `)),
    ])
  })

  test('is named before the Job that publishes the policy needs it', () => {
    const set = [
      'secrets.redisUrl.existingSecret=',
      'policy.delivery=push',
      'policy.files.policy\\.csv=x',
    ]

    expect(lines(refusal({ files: good, set }))).toEqual([
      expect.stringMatching(/^secrets\.redisUrl is required: policy\.delivery push /),
    ])
  })

  test('is named together with everything else that is', () => {
    expect(lines(refusal({ files: [] })).map((line) => line.split(' ')[0])).toEqual([
      'image.repository',
      'secrets.jwtSecret',
      'secrets.redisUrl',
      'secrets.databaseUrl',
    ])
  })

  test('is asked for by several replicas, also where policies are files', () => {
    const set = ['replicaCount=2', 'persistence.enabled=false', 'policy.files.policy\\.csv=x']

    const said = lines(refusal({ files: ['files-policy'], set }))

    expect(said.map((line) => line.split(' ')[0])).toEqual([
      'secrets.redisUrl',
      'secrets.databaseUrl',
    ])
  })

  test('is asked for by several workers of one replica, with one line each', () => {
    const set = [
      'config.application.workers=2',
      'policy.files.policy\\.csv=x',
      'resources.limits.memory=2Gi',
    ]

    const said = lines(refusal({ files: ['files-policy'], set }))

    expect(said).toEqual([
      expect.stringMatching(/^secrets\.redisUrl is required: config\.application\.workers /),
      expect.stringMatching(/^secrets\.databaseUrl is required: config\.application\.workers /),
    ])
  })

  test('is none for workers that are as many as can be', () => {
    const set = ['config.application.workers=auto', 'policy.files.policy\\.csv=x']

    expect(refusal({ files: ['files-policy'], set })).toBe('')
  })

  test('of the database is none for one gateway that has room for its own', () => {
    const set = ['resources.limits.memory=512Mi', 'policy.files.policy\\.csv=x']

    expect(lines(refusal({ files: ['files-policy'], set }))).toEqual([
      expect.stringMatching(/^resources\.limits\.memory is too low/),
    ])
  })

  test('is none when keys sign instead', () => {
    const set = ['secrets.jwtSecret.existingSecret=', 'keys.existingSecret=keys']

    expect(refusal({ files: good, set })).toBe('')
  })

  test('that is given but weak is refused without being shown', () => {
    const set = ['secrets.jwtSecret.existingSecret=', 'secrets.jwtSecret.value=hunter2']

    const said = refusal({ files: good, set })

    expect(said).toContain('secrets.jwtSecret.value is too short')
    expect(said).not.toContain('hunter2')
  })
})

describe('a kind that another project brings', () => {
  const on = ['metrics.serviceMonitor.enabled', 'metrics.prometheusRule.enabled']
  const route = ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public']
  const set = [...on.map((value) => `${value}=true`), ...route]
  // A cluster reports its kinds like this.
  const cluster = ['v1/Pod', 'apps/v1/Deployment']
  const monitoring = ['ServiceMonitor', 'PrometheusRule'].map(
    (kind) => `monitoring.coreos.com/v1/${kind}`,
  )

  test('is named where the cluster does not have it, with the project that brings it', () => {
    expect(lines(refusal({ files: good, set, kinds: cluster }))).toEqual([
      expect.stringMatching(
        /^metrics\.serviceMonitor\.enabled needs the kind ServiceMonitor .*Prometheus Operator/,
      ),
      expect.stringMatching(/^metrics\.prometheusRule\.enabled needs the kind PrometheusRule /),
      expect.stringMatching(/^httpRoute\.enabled needs the kind HTTPRoute .*Gateway API/),
    ])
    expect(lines(refusal({ files: good, set, kinds: [...cluster, ...monitoring] }))).toEqual([
      expect.stringMatching(/^httpRoute\.enabled /),
    ])
  })

  test('is rendered where the cluster has it, and where there is no cluster to look at', () => {
    const kinds = [...cluster, ...monitoring, 'gateway.networking.k8s.io/v1/HTTPRoute']

    expect(refusal({ files: good, set, kinds })).toBe('')
    expect(refusal({ files: good, set })).toBe('')
  })

  test('is not needed by values that leave it out', () => {
    expect(refusal({ files: good, kinds: cluster })).toBe('')
  })
})

describe('helm lint --strict', () => {
  test.each([
    ['without values', []],
    ['with a Job that would need Redis', ['policy.delivery=push']],
    ['with a policy of files', ['policy.delivery=files']],
  ])('passes %s, so that a pipeline can lint the chart as it is', (_, set) => {
    expect(lint({ files: [], set })).toBe('')
  })
})

describe('the schemas of Kubernetes', () => {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } }

  test('object to what Kubernetes would object to', async () => {
    const broken = { ...service, spec: { ports: [{ port: 'eighty' }] } }
    const noSelector = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'x' },
      spec: {},
    }

    await expect(validate(broken)).rejects.toThrow(/port/)
    await expect(validate(noSelector)).rejects.toThrow(/selector/)
    await validate({ ...service, spec: { ports: [{ port: 80 }] } })
  })
})
