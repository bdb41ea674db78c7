import type { DeepPartial } from '../../kernel/deep-partial.ts'
import {
  captchaSettings,
  cookieSettings,
  databaseSettings,
  jwtSettings,
  revocationSettings,
  tokensSettings,
} from './accounts.ts'
import { consoleSettings } from './console.ts'
import { corsSettings } from './forwarding/cors.ts'
import { headersSettings, identitySettings } from './forwarding/headers.ts'
import { route } from './forwarding/route.ts'
import { upstream } from './forwarding/upstream.ts'
import { issuersSetting } from './issuers.ts'
import {
  applicationSettings,
  forwardAuthSettings,
  limitsSettings,
  opsSettings,
  overloadSettings,
  shutdownSettings,
  tlsSettings,
  upgradesSettings,
} from './listeners.ts'
import { loginSettings, pagesSettings } from './login/login.ts'
import { loggerSettings, tracingSettings } from './observability.ts'
import { UPSTREAM_NAME } from './patterns.ts'
import { refusalsSettings } from './refusals.ts'
import { endpoint, reloading, section } from './setting-builders.ts'
import { policySettings, redisSettings } from './stores.ts'
import { Type, type ValueOf } from './type.ts'

/** The longest `jwt.timeout` that can be configured. */
export { TEN_YEARS_SECONDS as LONGEST_TIMEOUT_SECONDS } from './setting-builders.ts'

/**
 * Every setting of Postern. The TypeScript type, the checks, the defaults and `config/schema.json` all
 * come from here. `writeOnly` marks a secret.
 */
export const configSchema = section('Configuration of Postern.', {
  application: applicationSettings,
  tls: tlsSettings,
  cors: corsSettings,
  ops: opsSettings,
  forwardAuth: forwardAuthSettings,
  console: consoleSettings,
  logger: loggerSettings,
  tracing: tracingSettings,
  jwt: jwtSettings,
  tokens: tokensSettings,
  issuers: issuersSetting,
  cookie: cookieSettings,
  database: databaseSettings,
  captcha: captchaSettings,
  login: loginSettings,
  pages: pagesSettings,
  refusals: refusalsSettings,
  redis: redisSettings,
  policy: policySettings,
  revocation: revocationSettings,
  headers: headersSettings,
  identity: identitySettings,
  limits: limitsSettings,
  overload: overloadSettings,
  upgrades: upgradesSettings,
  upstreams: Type.Record(Type.String({ pattern: UPSTREAM_NAME }), upstream, {
    additionalProperties: false,
    default: {},
    reloads: true,
    description:
      'Services behind Postern, by name: lower-case letters, digits and hyphens, starting with a letter.',
  }),
  routes: Type.Array(route, {
    default: [],
    reloads: true,
    maxItems: 10_000,
    description:
      'Routes by host, path and method. The most specific host wins, then the exact path or longest prefix, then the method.',
  }),
  endpoints: reloading('Endpoints of Postern that an upstream can serve instead.', {
    logout: endpoint('POST /api/v1/logout'),
    profile: endpoint('GET /api/v1/user/profile'),
    password: endpoint('POST /api/v1/user/password'),
  }),
  shutdown: shutdownSettings,
})

/** A valid configuration with every default filled in, deeply frozen. */
export type Config = ValueOf<typeof configSchema>

/** A configuration without the values that do not fit the schema. */
export type Draft = DeepPartial<Config>
