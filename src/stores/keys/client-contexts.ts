import { createHash } from 'node:crypto'
import type { SecureContext } from 'node:tls'
import { type ClientFiles, clientContextOf, readClientFiles } from '../../kernel/pem-files.ts'

/**
 * TLS contexts for upstreams. Files with unchanged content give the same context again, so that a
 * reload can keep the connections that were opened with it.
 */
export function createClientContexts(): (files: ClientFiles) => Promise<SecureContext> {
  const known = new Map<string, { readonly checksum: string; readonly context: SecureContext }>()

  return async (files) => {
    const read = await readClientFiles(files)
    const name = JSON.stringify([files.caFile, files.certFile, files.keyFile])
    const checksum = createHash('sha256').update(JSON.stringify(read)).digest('hex')
    const before = known.get(name)
    if (before?.checksum === checksum) return before.context
    const context = clientContextOf(read)
    known.set(name, { checksum, context })
    return context
  }
}
