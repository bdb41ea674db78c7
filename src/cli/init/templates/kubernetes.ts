import { jwtSecret } from './go-admin.ts'
import { readerPolicy } from './policies.ts'
import type { Template, TemplateValues } from './template.ts'

export const kubernetes: Template = {
  defaultUpstream: 'http://app:8080',
  hasAccounts: false,
  env: {
    POSTERN_JWT__SECRET_FILE: 'secrets/jwt-secret',
    POSTERN_DATABASE__URL_FILE: 'secrets/database-url',
    POSTERN_REDIS__URL_FILE: 'secrets/redis-url',
  },
  ignored: ['secrets/'],
  files: (values) => [
    { name: 'values.yaml', text: chartValues(values) },
    ...readerPolicy(values.role),
    jwtSecret(),
    {
      name: 'secrets/database-url',
      text: 'postgres://postern:PASSWORD@postgres/postern\n',
      isSecret: true,
    },
    { name: 'secrets/redis-url', text: 'redis://:PASSWORD@redis:6379/0\n', isSecret: true },
  ],
}

function chartValues({ upstream, port }: TemplateValues): string {
  return `# Values of the Helm chart. Its values.yaml describes all others, and the chart rejects unknown ones.

image:
  # The repository that you pushed the image to, and its tag or digest.
  registry: registry.example.com
  repository: team/postern
  tag: ''

replicaCount: 2

# The Secret "postern" holds what secrets/ has: a key that signs tokens, and the URLs of PostgreSQL
# (or MySQL) and Redis.
secrets:
  jwtSecret: { existingSecret: postern }
  databaseUrl: { existingSecret: postern }
  redisUrl: { existingSecret: postern }

# A Job publishes the files of policies/ before each install and upgrade. helm gets them by --set-file.
policy:
  delivery: push

# The configuration of the gateways; "postern config schema" describes every setting.
config:
  application:
    mode: prod
    port: ${port}
    # The ingress controller, whose X-Forwarded-For is trusted, such as 10.0.0.0/8.
    trustedProxies: []
  # Browsers that open a page without a login go to a form, and get the token as a cookie.
  cookie:
    set: true
  login:
    page:
      enabled: true
  upstreams:
    app:
      targets:
        - ${upstream}
  # A route covers its path and everything below it. Its access is \`permitted\` by default: the policy
  # decides who may call what. The alternatives are \`authenticated\` and \`public\`.
  routes:
    - path: /
      upstream: app

# ingress:
#   enabled: true
#   className: nginx
#   hosts: [{ host: app.example.com }]
`
}
