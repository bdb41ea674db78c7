import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Certificates } from './certificates.ts'
import { freePort } from './redis-server.ts'

const program = ['/usr/sbin/slapd', '/usr/libexec/slapd', '/usr/lib/openldap/slapd'].find(
  existsSync,
)
const schemas = ['/etc/ldap/schema', '/etc/openldap/schema'].find(existsSync)
const modules = ['/usr/lib/ldap', '/usr/lib/openldap', '/usr/lib64/openldap'].find(existsSync)

/** Why tests with slapd are skipped, or `undefined`. */
export const slapdMissing =
  program === undefined || schemas === undefined || modules === undefined
    ? 'they need OpenLDAP: install it (Debian: apt-get install slapd)'
    : undefined

export interface Slapd {
  readonly port: number
  readonly ldaps: string
  readonly ldap: string
  /** Hangs it: connections stay open and nothing is answered. */
  pause(): void
  resume(): void
  kill(): Promise<void>
  /** Starts it again on the same ports, with the same entries. */
  start(): Promise<void>
  stop(): Promise<void>
}

export const suffix = 'dc=example,dc=com'
export const serviceDn = `cn=reader,${suffix}`
export const servicePassword = 'reader-secret'

/** May change every entry. */
export const managerDn = `cn=manager,${suffix}`
export const managerPassword = 'manager-secret'

interface SlapdOptions {
  /** Further entries, as LDIF. */
  readonly ldif: string
  readonly certificates: Certificates
  /** Lines before the database, such as `allow bind_anon_cred`. */
  readonly settings?: readonly string[]
}

/** A real slapd on free ports of 127.0.0.1, with a root entry, a service account and these entries. */
export async function startSlapd(options: SlapdOptions): Promise<Slapd> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-slapd-'))
  const [port, securePort] = [await freePort(), await freePort()]
  const conf = join(directory, 'slapd.conf')
  await mkdir(join(directory, 'data'))
  await writeFile(conf, configuration(directory, options))
  const file = join(directory, 'data.ldif')
  await writeFile(file, `${base}\n${options.ldif}\n`)
  const slapd = program ?? ''
  execFileSync(slapd, ['-T', 'add', '-f', conf, '-l', file], { stdio: 'pipe' })

  let running: ReturnType<typeof spawn> | undefined
  const urls = { ldap: `ldap://127.0.0.1:${port}`, ldaps: `ldaps://127.0.0.1:${securePort}` }

  async function start(): Promise<void> {
    const args = ['-d', '0', '-f', conf, '-h', `${urls.ldap}/ ${urls.ldaps}/`]
    running = spawn(slapd, args, { stdio: 'ignore' })
    for (let turn = 0; turn < 400 && running.exitCode === null; turn++) {
      if ((await listens(port)) && (await listens(securePort))) return
      await pause(25)
    }
    throw new Error('slapd does not start')
  }

  async function kill(): Promise<void> {
    if (running === undefined || running.exitCode !== null || running.signalCode !== null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    await ended
  }

  const leave = () => void running?.kill('SIGKILL')
  process.once('exit', leave)
  await start()
  return {
    port,
    ...urls,
    pause: () => void running?.kill('SIGSTOP'),
    resume: () => void running?.kill('SIGCONT'),
    kill,
    start,
    async stop() {
      process.off('exit', leave)
      await kill()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function configuration(directory: string, { certificates, settings = [] }: SlapdOptions): string {
  const wanted = ['core', 'cosine', 'inetorgperson']
  return [
    ...wanted.map((name) => `include ${schemas}/${name}.schema`),
    ...activeDirectory,
    `modulepath ${modules}`,
    'moduleload back_mdb',
    'moduleload memberof',
    `pidfile ${directory}/slapd.pid`,
    `TLSCACertificateFile ${certificates.authority}`,
    `TLSCertificateFile ${certificates.certificate}`,
    `TLSCertificateKeyFile ${certificates.key}`,
    ...settings,
    'database mdb',
    `suffix "${suffix}"`,
    `rootdn "${managerDn}"`,
    `rootpw ${managerPassword}`,
    `directory ${directory}/data`,
    'maxsize 16777216',
    'overlay memberof',
    'access to attrs=userPassword by anonymous auth by * none',
    `access to * by dn.exact="${serviceDn}" read by self read by * none`,
    '',
  ].join('\n')
}

/** What tests need of Active Directory's schema; Debian's copy compares none of these attributes. */
const activeDirectory = [
  `attributetype ( 1.2.840.113556.1.4.221 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.15 SINGLE-VALUE )`,
  `attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )`,
]

const base = `
dn: ${suffix}
objectClass: dcObject
objectClass: organization
dc: example
o: Example

dn: ${serviceDn}
objectClass: applicationProcess
objectClass: simpleSecurityObject
cn: reader
userPassword: ${servicePassword}

dn: ou=people,${suffix}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${suffix}
objectClass: organizationalUnit
ou: groups
`

/** An entry of a person, as LDIF. */
export function personLdif(
  uid: string,
  password: string,
  more: readonly string[] = [],
  dn = `uid=${uid},ou=people,${suffix}`,
): string {
  return [
    `dn:: ${Buffer.from(dn).toString('base64')}`,
    'objectClass: inetOrgPerson',
    `uid:: ${Buffer.from(uid).toString('base64')}`,
    `cn:: ${Buffer.from(`Full ${uid}`).toString('base64')}`,
    'sn: Name',
    `userPassword:: ${Buffer.from(password).toString('base64')}`,
    ...more,
    '',
  ].join('\n')
}

/** A group with these members, as LDIF. */
export function groupLdif(cn: string, members: readonly string[]): string {
  return [
    `dn: cn=${cn},ou=groups,${suffix}`,
    'objectClass: groupOfNames',
    `cn: ${cn}`,
    ...members.map((member) => `member: ${member}`),
    '',
  ].join('\n')
}

async function listens(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' })
  const opened = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return opened
}
