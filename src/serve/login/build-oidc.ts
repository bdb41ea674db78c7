import type { FindCrossSite } from '../../gateway/cross-site.ts'
import { createOidcResponses } from '../../http/oidc/oidc-responses.ts'
import type { TokenCookie } from '../../http/token-cookie.ts'
import type { Closing } from '../../kernel/closing.ts'
import type { LinkedAccounts } from '../../login/linked-account.ts'
import type { Login } from '../../login/login.ts'
import { createBeginLogin } from '../../login/methods/oidc/begin-login.ts'
import { purposeOf } from '../../login/methods/oidc/flow.ts'
import { createOidcMethod } from '../../login/methods/oidc/oidc-method.ts'
import { openProvider } from '../../login/methods/oidc/provider.ts'
import {
  addProviderMetrics,
  countProviderLogins,
} from '../../login/methods/oidc/provider-metrics.ts'
import type { MetricRegistry } from '../../metrics/registry.ts'
import type { Database } from '../../stores/database/database.ts'
import type { UsedOnce } from '../../stores/identities/used-once.ts'
import type { OpenKeys } from '../../stores/keys/key-feed.ts'
import type { SessionRecorder } from '../../stores/sessions/session-recorder.ts'
import { createDerivedKeys } from '../../token/derived-keys.ts'
import type { TokenRevocation } from '../../token/revocations.ts'
import { createSealing } from '../../token/sealing/sealing.ts'
import { clock, type ServeOptions } from '../options.ts'
import { buildOidcLogouts } from './build-oidc-logouts.ts'

/** Logins with OpenID Connect providers. Without a configured provider, nothing of it exists. */
export function buildOidc(
  { config, log, now = clock, asWorker }: ServeOptions,
  parts: {
    readonly keys: OpenKeys['current']
    readonly registry: MetricRegistry
    readonly linkedAccounts: LinkedAccounts
    readonly usedOnce: UsedOnce
    readonly database: Database
    readonly sessions: SessionRecorder
    readonly revokeToken: (revocation: TokenRevocation) => Promise<unknown>
    readonly timeoutMs: number
    /** The purpose of the key that seals logins on their way. Unset: that of the gateway. */
    readonly flowKey?: string | undefined
  },
  closing: Closing,
) {
  const sealing = createSealing(createDerivedKeys(parts.keys, parts.flowKey ?? 'oidc-flow'))
  const onResult = countProviderLogins(
    parts.registry,
    config.login.oidc.map(({ name }) => name),
  )
  const open = config.login.oidc.map((settings) => {
    const provider = openProvider(settings, log)
    closing.add(async () => provider.close())
    const method = createOidcMethod({
      ...{ settings, provider, sealing, now },
      claim: parts.usedOnce.claim,
      signIn: parts.linkedAccounts.signIn,
      onResult: (result) => onResult(settings.name, result),
    })
    return { settings, provider, method }
  })
  const logouts = buildOidcLogouts({ ...parts, open, log, now })
  const states = () => open.map(({ provider }) => provider.state())
  if (open.length > 0) addProviderMetrics(parts.registry, states)
  if (open.length > 0 && asWorker === undefined) {
    const shown = open.map(({ settings: { name, issuer, create, linkByUsername } }) => {
      return { name, issuer, create, linkByUsername }
    })
    log.info({ providers: shown }, 'accepting logins of identity providers')
  }

  const begin = new Map(
    open.map((each) => [each.settings.name, createBeginLogin({ ...each, sealing, now })]),
  )
  type Cookie = (name: string) => string | undefined

  return {
    /** How logins begin, by name of the provider. */
    begin,
    purposeOf: (state: string, cookie: Cookie) => purposeOf(sealing, state, cookie),
    methods: open.map(({ method }) => method),
    states,
    onIssued: logouts.onIssued,
    endSessionUrl: logouts.endSessionUrl,
    /** `undefined` without a provider. */
    responsesWith(rest: {
      readonly login: Login
      readonly cookie: TokenCookie
      readonly crossSite: FindCrossSite
    }) {
      if (open.length === 0) return undefined
      return createOidcResponses({
        ...rest,
        begin,
        endSessions: logouts.endSessions,
        returnPath: async (state, cookie) => (await purposeOf(sealing, state, cookie)).to,
        strictCookie: config.cookie.sameSite === 'strict',
      })
    },
  }
}
