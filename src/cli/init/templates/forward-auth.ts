import { aboutSettings, minimal, ownAccounts } from './minimal.ts'
import { readerPolicy } from './policies.ts'
import { schemaLine, type Template, type TemplateValues } from './template.ts'

export const forwardAuth: Template = {
  ...minimal,
  files: (values) => [
    { name: 'postern.yaml', text: configuration(values) },
    ...readerPolicy(values.role),
  ],
}

function configuration(values: TemplateValues): string {
  return `${schemaLine}#
# Postern beside nginx, Traefik, Caddy or Envoy: the proxy asks Postern about each request, and
# forwards it to ${values.upstream} itself.
${aboutSettings}
${ownAccounts(values, trustedProxies)}
# Where proxies ask: /auth/nginx, /auth/traefik (Caddy too) or /auth/envoy. The proxy sends the
# endpoints of Postern, such as /login and /api/v1/login, to application.port instead.
forwardAuth:
  enabled: true
  host: 127.0.0.1
  port: 9101

# A path without a route needs a token and permission by policies/. Write routes for exceptions only;
# they need no upstream here.
routes: []
  # - { path: /assets, access: public, reason: Pages load these files before the login. }
`
}

const trustedProxies = `  # The proxies that may ask.
  trustedProxies: [127.0.0.1, '::1']
`
