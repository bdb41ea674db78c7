import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for `localhost`, its key, and the authority that signed it, as files. */
export interface Certificates {
  readonly authority: string
  readonly certificate: string
  readonly key: string
  readonly authorityText: string
  remove(): Promise<void>
}

/** Makes an authority that nobody trusts yet, and a certificate of it for this name. */
export async function createCertificates(name = 'localhost'): Promise<Certificates> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-tls-'))
  const at = (file: string) => join(directory, file)
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: 'pipe', cwd: directory })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  await writeFile(at('names'), `subjectAltName=DNS:${name}\n`)
  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca')
  openssl('req', ...newKey, '-keyout', 'key.pem', '-out', 'request.pem', '-subj', `/CN=${name}`)
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'request.pem', ...signed, '-days', '2', '-out', 'cert.pem')
  return {
    authority: at('ca.pem'),
    certificate: at('cert.pem'),
    key: at('key.pem'),
    authorityText: await readFile(at('ca.pem'), 'utf8'),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
