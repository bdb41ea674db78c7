import { readerPolicy } from './policies.ts'
import { schemaLine, type Template, type TemplateValues } from './template.ts'

export const minimal: Template = {
  defaultUpstream: 'http://127.0.0.1:3000',
  hasAccounts: true,
  env: {},
  ignored: ['data/', 'keys/', 'secrets/'],
  files: (values) => [
    { name: 'postern.yaml', text: configuration(values) },
    ...readerPolicy(values.role),
  ],
}

function configuration(values: TemplateValues): string {
  return `${schemaLine}#
# Postern in front of one service, with accounts of its own.
${aboutSettings}
${ownAccounts(values)}
# Your service. Several targets share the requests.
upstreams:
  app:
    targets:
      - ${values.upstream}

# A route covers its path and everything below it. Its access is \`permitted\` by default: the files
# in policies/ decide who may call what. The alternatives are \`authenticated\` (any valid token) and
# \`public\` (no token; requires a reason).
routes:
  - path: /
    upstream: app
  # - path: /assets
  #   upstream: app
  #   access: public
  #   reason: Pages load these files before the login.
`
}

/** How settings work, for the head of a file. */
export const aboutSettings = `#
#   postern config check    validates this file, and the files it names
#   postern config print    shows every setting with its default
#
# Relative paths start at the directory of this file. Environment variables override it:
# POSTERN_APPLICATION__PORT sets application.port. After an upgrade, renew the schema for editors:
# postern config schema > postern.schema.json
`

/** The settings of a gateway with accounts, keys and a database of its own. */
export function ownAccounts({ port }: TemplateValues, listener = ''): string {
  return `application:
  # For trying Postern out ONLY: no captcha at login, and tokens that last about 100 years.
  # For production write \`prod\`, and terminate TLS here (tls) or in a proxy (trustedProxies).
  mode: dev
  # Only reachable from this machine. Never expose a gateway in mode dev to a network.
  host: 127.0.0.1
  port: ${port}
${listener}  # The embedded database, with accounts and the login log. Set POSTERN_DATABASE__URL to use
  # PostgreSQL or MySQL instead. Keep it out of Git, and back it up.
  dataDirectory: data

jwt:
  # The keys that sign tokens; "postern keys generate" adds one. Keep them out of Git.
  keyDirectory: keys
  # Lifetime of a token in seconds, in every mode but dev.
  timeout: 3600

policy:
  # What each role may do. Watched for changes.
  directory: policies

logger:
  # Record every login attempt, successful or not, in the login log.
  enableddb: true

# Browsers that open a page without a login go to a form, and get the token as a cookie.
cookie:
  set: true
login:
  page:
    enabled: true
`
}
