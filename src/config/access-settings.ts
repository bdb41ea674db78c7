import type { Config } from './schema/schema.ts'

/** The settings that decide who may make which request: the same for the gateway and the commands. */
export function accessSettings(config: Config) {
  const { oidc, page } = config.login
  return {
    routes: config.routes,
    endpoints: { ...config.endpoints, captchaAlias: config.captcha.alias, oidc, page },
    forwardAuth: config.forwardAuth.enabled,
    maxTargetBytes: config.limits.targetBytes,
    hosts: config.application.hosts,
    pageHost: page.enabled ? URL.parse(page.url ?? '')?.hostname : undefined,
    policyUsesHost: config.policy.domain?.from === 'host',
  }
}
