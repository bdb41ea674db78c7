import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A certificate for a name, and its key, as files. */
export interface IssuedCertificate {
  readonly certificate: string
  readonly key: string
}

/** A certificate for `localhost`, its key, and the authority that signed it, as files. */
export interface Certificates extends IssuedCertificate {
  readonly authority: string
  readonly authorityKey: string
  readonly authorityText: string
  /** Another one of the same authority; with `days` below 0 it has expired. */
  issue(name: string, days?: number): Promise<IssuedCertificate>
  remove(): Promise<void>
}

/** Makes an authority that nobody trusts yet, and a certificate of it for this name or address. */
export async function createCertificates(name = 'localhost', days = 2): Promise<Certificates> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-tls-'))
  const at = (file: string) => join(directory, file)
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { stdio: 'pipe', cwd: directory })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  let issued = 0

  async function issue(to: string, lasting = 2): Promise<IssuedCertificate> {
    const number = ++issued
    const [key, request, certificate] = [`${number}.key`, `${number}.csr`, `${number}.pem`]
    await writeFile(at('names'), `subjectAltName=${isIP(to) === 0 ? 'DNS' : 'IP'}:${to}\n`)
    openssl('req', ...newKey, '-keyout', key, '-out', request, '-subj', `/CN=${to}`)
    const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
    openssl(
      ...['x509', '-req', '-in', request, ...signed],
      ...['-days', String(lasting), '-out', certificate],
    )
    return { certificate: at(certificate), key: at(key) }
  }

  openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=ca')
  return {
    ...(await issue(name, days)),
    authority: at('ca.pem'),
    authorityKey: at('ca.key'),
    authorityText: await readFile(at('ca.pem'), 'utf8'),
    issue,
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
