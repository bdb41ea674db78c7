import { execFile } from 'node:child_process'
import { Fault } from '../../kernel/errors.ts'

/** Longer than a person takes to find a passphrase or to touch a key. */
const timeout = 300_000

/**
 * Signs a text with a key that only OpenSSH can use: one with a passphrase, for which it asks on the
 * terminal, or one that an agent holds. `file` is an absolute path.
 */
export async function signWithSshKeygen(
  text: string,
  { file, namespace, env }: SshKeygenOptions,
): Promise<string> {
  const args = ['-Y', 'sign', '-n', namespace, '-f', file]
  return new Promise((resolve, reject) => {
    const options = { env: { ...withoutSettings(env), LC_ALL: 'C' }, maxBuffer: 65_536, timeout }
    const child = execFile('ssh-keygen', args, options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else if (error.code === 'ENOENT') {
        const need = `${file} needs ssh-keygen, which is not installed`
        reject(new Fault('keys', { reason: `${need}: install OpenSSH, or use another key` }))
      } else {
        const complaint = lastLine(stderr) || String(error.code ?? error.signal)
        reject(new Fault('keys', { reason: `ssh-keygen did not sign: ${complaint}` }))
      }
    })
    // An ssh-keygen that ends before it has read its input is noticed by how it ends.
    child.stdin?.on('error', () => {})
    child.stdin?.end(text)
  })
}

interface SshKeygenOptions {
  readonly file: string
  readonly namespace: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Settings may contain secrets, which another program need not see. */
function withoutSettings(env: SshKeygenOptions['env']): SshKeygenOptions['env'] {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('POSTERN_')))
}

function lastLine(stderr: string): string {
  return stderr.trim().split(/\r?\n/).at(-1)?.slice(0, 200) ?? ''
}
