import { readFile } from 'node:fs/promises'
import type { IssuedCertificate } from './certificates.ts'
import { runNginx } from './nginx.ts'
import { type ProxyPorts, type SampleName, startProxy } from './proxy-process.ts'

export type ForwardAuthProxy = SampleName | 'nginx'

/** What readers add to the samples: TLS, the host of the login page, and a second application. */
export interface Additions {
  readonly tls: IssuedCertificate
  readonly loginHost: string
  readonly wiki: { readonly host: string; readonly port: number }
}

export type ListeningPorts = ProxyPorts & { readonly listen: number }

/** The real program, with HTTPS for both applications. Ends with the test. */
export async function startBefore(
  name: ForwardAuthProxy,
  ports: ListeningPorts,
  additions: Additions,
): Promise<void> {
  if (name === 'nginx') await runNginx(await nginxText(ports, additions), ports.listen)
  else await startProxy(name, ports, (sample) => changes[name](sample, ports, additions))
}

const changes: Readonly<
  Record<SampleName, (sample: string, ports: ListeningPorts, additions: Additions) => string>
> = {
  traefik: (sample, _, { tls, loginHost, wiki }) =>
    sample
      .replace(/^( {4}address: 127.*)$/m, '$1\n    http: { tls: {} }')
      .replace(
        /^http:\n/m,
        `tls:\n  stores: { default: { defaultCertificate: { certFile: ${tls.certificate}, keyFile: ${tls.key} } } }\nhttp:\n`,
      )
      .replace("rule: 'Path(`/login`)", `rule: 'Host(\`${loginHost}\`) || Path(\`/login\`)`)
      .replace(
        /^( {2}routers:\n)/m,
        `$1    wiki: { rule: 'Host(\`${wiki.host}\`) && PathPrefix(\`/\`)', service: wiki, middlewares: [plain, no-upgrade, postern] }\n`,
      )
      .replace(
        /^( {2}services:\n)/m,
        `$1    wiki: { loadBalancer: { servers: [{ url: 'http://127.0.0.1:${wiki.port}' }] } }\n`,
      ),
  caddy: (sample, { listen }, { tls, loginHost, wiki }) =>
    replaced(sample, {
      'http://:8088 {': `https://:${listen} {\n\ttls ${tls.certificate} ${tls.key}`,
      '\t\treverse_proxy @own ': `\t\t@login host ${loginHost}\n\t\treverse_proxy @login 127.0.0.1:8000\n$&`,
      '\t\treverse_proxy 127.0.0.1:8080': `\t\t@wiki host ${wiki.host}\n\t\treverse_proxy @wiki 127.0.0.1:${wiki.port}\n$&`,
    }),
  envoy: changedEnvoy,
  'envoy-grpc': changedEnvoy,
}

function changedEnvoy(sample: string, _: ListeningPorts, additions: Additions): string {
  const { tls, loginHost, wiki } = additions
  const files = `certificate_chain: { filename: ${tls.certificate} }, private_key: { filename: ${tls.key} }`
  const to = (host: string) =>
    `prefix: /, headers: [{ name: ':authority', string_match: { prefix: '${host}:' } }]`
  const rest = '                        - { match: { prefix: / }, route: { cluster: backend } }\n'
  return replaced(sample, {
    '        - filters:\n': `        - transport_socket: { name: tls, typed_config: { '@type': type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext, common_tls_context: { tls_certificates: [{ ${files} }] } } }\n          filters:\n`,
    [rest]: `                        - { match: { ${to(loginHost)} }, route: { cluster: postern }, typed_per_filter_config: *own }
                        - { match: { ${to(wiki.host)} }, route: { cluster: wiki } }
${rest}`,
    '  clusters:\n': `$&    - { name: wiki, type: STATIC, load_assignment: { cluster_name: wiki, endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: ${wiki.port} } } } }] }] } }\n`,
  })
}

async function nginxText(ports: ListeningPorts, additions: Additions): Promise<string> {
  const { tls, loginHost, wiki } = additions
  const sample = await readFile('samples/nginx/postern.conf', 'utf8')
  const own = /location ~ \S+ (\{[^}]*\})/.exec(sample)?.[1] ?? ''
  const secure = `listen 127.0.0.1:${ports.listen} ssl; ssl_certificate ${tls.certificate}; ssl_certificate_key ${tls.key};`
  return replaced(sample, {
    'listen 127.0.0.1:8088;': secure,
    'proxy_pass http://backend;': 'proxy_pass http://$application;',
    '127.0.0.1:8000;': `127.0.0.1:${ports.postern};`,
    '127.0.0.1:9101;': `127.0.0.1:${ports.asked};`,
    '127.0.0.1:8080;': `127.0.0.1:${ports.backend};`,
  }).concat(
    `upstream wiki { server 127.0.0.1:${wiki.port}; }\n`,
    `map $host $application { default backend; ${wiki.host} wiki; }\n`,
    `server { ${secure} server_name ${loginHost}; location / ${own} }\n`,
  )
}

function replaced(text: string, parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts).reduce((sample, [from, to]) => {
    if (!sample.includes(from)) throw new Error(`the sample has no ${from}`)
    return sample.replace(from, to)
  }, text)
}
