import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ProcessOptions, startGatewayProcess } from './gateway-process.ts'
import { startRecordingUpstream } from './recording-upstream.ts'
import { testSecret } from './tokens.ts'

/** Sections of a configuration, without what a gateway needs to start at all. */
export type Sections = Readonly<Record<string, unknown>>

/** A gateway without a database, which starts fastest; who has a token needs none. */
export function loneGatewayConfig(directory: string, upstream: string, sections: Sections = {}) {
  return {
    application: { host: '127.0.0.1', port: 0, dataDirectory: join(directory, 'data') },
    ops: { port: 0 },
    jwt: { secret: testSecret },
    database: { url: 'postgres://nobody:of-the-database@127.0.0.1:9/none', migrate: 'never' },
    policy: { directory: join(process.cwd(), 'policies') },
    upstreams: { backend: { targets: [upstream] } },
    routes: [{ path: '/', upstream: 'backend' }],
    ...sections,
  }
}

/** Such a gateway in a process of its own, with a recording upstream. Ends with the test. */
export async function startLoneGateway(sections: Sections = {}, options: ProcessOptions = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-lone-'))
  const upstream = await startRecordingUpstream()
  onTestFinished(async () => {
    await upstream.close()
    await rm(directory, { recursive: true, force: true })
  })
  const config = loneGatewayConfig(directory, upstream.origin, sections)
  const gateway = await startGatewayProcess(join(directory, 'postern.yaml'), config, options)
  onTestFinished(() => gateway.kill())
  return { gateway, upstream }
}
