import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { policyFiles } from '../../test/support/policy-files.ts'
import { testSecret } from '../../test/support/tokens.ts'
import type { Setting } from './peer.ts'
import { createRules } from './rules.ts'

/** The workloads of a peer with casbin, which reads every rule for every request. */
export function casbinWorkloads(rules: number): readonly string[] {
  // Milliseconds a request: two figures say it, and a thousand clients would wait for seconds.
  return rules > 100
    ? ['get', 'ids']
    : ['get', 'ids', 'post', 'large', 'tokens', 'denied', 'strangers', 'tls']
}

/** Writes model and policy for casbin, and says in the peer's environment where they are and whom to ask. */
export async function casbinEnv(
  count: number,
  { directory, port, upstreamPort, tls, certificate, key }: Setting,
): Promise<Readonly<Record<string, string>>> {
  const lines = createRules(count).map(({ role, path, method }) => `${role}, ${path}, ${method}`)
  const [model = '', rules = ''] = await Promise.all(
    policyFiles(lines).map(async ({ name, text }) => {
      const file = join(directory, name)
      await writeFile(file, text)
      return file
    }),
  )
  return {
    PORT: String(port),
    UPSTREAM: `http://127.0.0.1:${upstreamPort}`,
    ...(tls && { CERTIFICATE: certificate, KEY: key }),
    ...{ SECRET: testSecret, MODEL: model, RULES: rules },
  }
}
