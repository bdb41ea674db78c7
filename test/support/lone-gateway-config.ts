import { join } from 'node:path'
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
