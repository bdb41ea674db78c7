import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './redis-server.ts'
import { findKubernetes } from './services/find-kubernetes.ts'
import { until } from './until.ts'

/**
 * A real API server without controllers and without a kubelet: objects are validated and stored, and
 * nothing runs.
 */
export interface Kubernetes {
  readonly kubeconfig: string
  /** Calls the API as an administrator. Throws what it refuses. */
  call(method: string, path: string, body?: unknown): Promise<unknown>
  stop(): Promise<void>
}

/** Why none can be started here, if so. */
export function kubernetesMissing(): string | undefined {
  try {
    findKubernetes()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export async function startKubernetes(): Promise<Kubernetes> {
  const { apiServer, etcd } = findKubernetes()
  const directory = await mkdtemp(join(tmpdir(), 'postern-kubernetes-'))
  const at = (name: string) => join(directory, name)
  const [store, peers, port] = [await freePort(), await freePort(), await freePort()]
  const token = randomUUID()
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  await writeFile(at('sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }))
  await writeFile(at('tokens.csv'), `${token},admin,admin,system:masters\n`)
  await writeFile(at('kubeconfig'), JSON.stringify(kubeconfigFor(port, token)), { mode: 0o600 })

  const children: ChildProcess[] = []
  function start(name: string, program: string, args: readonly string[]): void {
    const child = spawn(program, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] })
    const log = createWriteStream(at(`${name}.log`))
    child.stdout?.pipe(log)
    child.stderr?.pipe(log)
    children.push(child)
  }
  const leave = () => {
    for (const child of children) child.kill('SIGKILL')
  }
  process.once('exit', leave)
  const url = `http://127.0.0.1:${store}`
  start('etcd', etcd, [
    ...['--data-dir', at('etcd'), '--listen-client-urls', url, '--advertise-client-urls', url],
    ...['--listen-peer-urls', `http://127.0.0.1:${peers}`],
  ])
  start('kube-apiserver', apiServer, [
    `--etcd-servers=${url}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--cert-dir=${at('certificates')}`,
    `--token-auth-file=${at('tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--service-account-issuer=https://kubernetes.example.com',
    `--service-account-key-file=${at('sa.key')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    // No controller creates the tokens that it would wait for.
    '--disable-admission-plugins=ServiceAccount',
  ])

  const call = (method: string, path: string, body?: unknown) =>
    callApi({ port, token, method, path, body })
  await until(async () => {
    if (children.some(({ exitCode }) => exitCode !== null)) {
      throw new Error(readFileSync(at('kube-apiserver.log'), 'utf8').slice(-2000))
    }
    return call('GET', '/readyz').then(
      () => true,
      () => false,
    )
  })
  return {
    kubeconfig: at('kubeconfig'),
    call,
    async stop() {
      process.off('exit', leave)
      for (const child of children.toReversed()) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
      }
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function kubeconfigFor(port: number, token: string) {
  const server = `https://127.0.0.1:${port}`
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  }
}

interface ApiCall {
  readonly port: number
  readonly token: string
  readonly method: string
  readonly path: string
  readonly body: unknown
}

async function callApi({ port, token, method, path, body }: ApiCall): Promise<unknown> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const sent = request({
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    // It makes its own certificate.
    rejectUnauthorized: false,
    headers: { authorization: `Bearer ${token}`, 'content-type': type },
  })
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) text += chunk
  if (response.statusCode >= 300) throw new Error(`${method} ${path}: ${text}`)
  return text.startsWith('{') ? JSON.parse(text) : text
}
