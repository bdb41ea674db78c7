import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { fakeClient } from './fake-provider.ts'

/** oidc-provider, a certified OpenID Provider, in this process. Whoever comes logs in as `user`. */
export interface CertifiedProvider {
  readonly issuer: string
  /** Who logs in next, and their groups. */
  user: string
  groups: readonly string[]
  /** Whether it has verified their email address. */
  hasVerifiedEmail: boolean
  /** The sessions of a browser there, as its cookies. */
  readonly cookies: Map<string, string>
  /** Errors of back-channel logouts that it sent. */
  readonly logoutErrors: string[]
  /** How often it sent one with success. */
  logouts: number
  /** Follows redirects from this address until one leaves the provider: that address. */
  visit(address: URL | string, form?: Readonly<Record<string, string>>): Promise<URL | string>
  /** Replaces its signing key. */
  rotate(): void
}

interface ProviderOptions {
  readonly redirectUris: readonly string[]
  readonly backChannelUri?: string
  readonly postLogoutRedirectUris?: readonly string[]
}

export async function startCertifiedProvider(options: ProviderOptions): Promise<CertifiedProvider> {
  const { Provider } = await import('oidc-provider')
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  function open(): void {
    const provider = new Provider(issuer, configuration())
    const listen = provider.callback()
    provider.on('backchannel.error', (_: unknown, error: Error) => {
      certified.logoutErrors.push(error.message)
    })
    provider.on('backchannel.success', () => {
      certified.logouts++
    })
    handle = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return listen(request, response)
      void provider.interactionFinished(request, response, { login: { accountId: certified.user } })
    }
  }

  function configuration() {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwk = { ...privateKey.export({ format: 'jwk' }), use: 'sig', kid: randomUUID() }
    return {
      jwks: { keys: [jwk] },
      clients: [
        {
          client_id: fakeClient.clientId,
          client_secret: fakeClient.clientSecret,
          redirect_uris: [...options.redirectUris],
          grant_types: ['authorization_code'],
          response_types: ['code'],
          ...(options.postLogoutRedirectUris && {
            post_logout_redirect_uris: [...options.postLogoutRedirectUris],
          }),
          ...(options.backChannelUri !== undefined && {
            backchannel_logout_uri: options.backChannelUri,
            backchannel_logout_session_required: true,
          }),
        },
      ],
      claims: {
        ...{ openid: ['sub'], profile: ['preferred_username', 'name'], groups: ['groups'] },
        email: ['email', 'email_verified'],
      },
      scopes: ['openid', 'groups', 'email'],
      // Claims in the ID token, as Keycloak and Entra ID send them.
      conformIdTokenClaims: false,
      cookies: { keys: ['one', 'two'] },
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource(ctx: { body: unknown }, form: string) {
            ctx.body = form
          },
        },
      },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      async findAccount(_: unknown, accountId: string) {
        const claims = async () => ({
          ...{ sub: accountId, preferred_username: accountId, name: `Name of ${accountId}` },
          groups: certified.groups,
          ...{ email: `${accountId}@idp.example`, email_verified: certified.hasVerifiedEmail },
        })
        return { accountId, claims }
      },
      async loadExistingGrant(ctx: {
        oidc: {
          provider: {
            Grant: new (given: object) => { addOIDCScope(s: string): void; save(): unknown }
          }
          client: { clientId: string }
          session: { accountId: string }
        }
      }) {
        const { provider, client, session } = ctx.oidc
        const grant = new provider.Grant({
          clientId: client.clientId,
          accountId: session.accountId,
        })
        grant.addOIDCScope('openid profile groups email')
        await grant.save()
        return grant
      },
      // It refuses to call loopback addresses with its own client.
      fetch: (url: string, { dispatcher: _, ...rest }: Record<string, unknown> = {}) =>
        globalThis.fetch(url, rest),
    }
  }

  const certified: CertifiedProvider = {
    issuer,
    user: 'ada',
    groups: ['staff'],
    hasVerifiedEmail: true,
    cookies: new Map(),
    logoutErrors: [],
    logouts: 0,
    async visit(address, form) {
      let next = new URL(address)
      let body = form && new URLSearchParams(form)
      for (let hops = 0; hops < 12; hops++) {
        if (next.origin !== issuer) return next
        const cookie = [...certified.cookies].map((pair) => pair.join('=')).join('; ')
        const response = await fetch(next, {
          redirect: 'manual',
          headers: { cookie },
          ...(body && { method: 'POST', body }),
        })
        body = undefined
        for (const set of response.headers.getSetCookie()) {
          const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
          if (value === '') certified.cookies.delete(name)
          else certified.cookies.set(name, value)
        }
        const location = response.headers.get('location')
        if (location === null) return response.text()
        next = new URL(location, next)
      }
      throw new Error('too many redirects')
    },
    rotate: open,
  }
  open()
  return certified
}
