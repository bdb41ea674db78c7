import { join } from 'node:path'
import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
import { tokenOf } from './tokens.ts'

interface HeaderOption {
  readonly header: { readonly key: string; readonly value: string }
  readonly append?: { readonly value: boolean }
  readonly append_action: number
}

/** What an Envoy would read. */
export interface CheckAnswer {
  readonly status: { readonly code: number }
  readonly ok_response?: {
    readonly headers: readonly HeaderOption[]
    readonly headers_to_remove: readonly string[]
  }
  readonly denied_response?: {
    readonly status: { readonly code: number }
    readonly headers: readonly HeaderOption[]
    readonly body: string
  }
}

const protocols = join(import.meta.dirname, 'protocols')
const files = ['ext-authz.proto', 'health.proto'].map((name) => join(protocols, name))
const loaded = loadSync(files, { keepCase: true, defaults: false, longs: String })

type CheckMethod = MethodDefinition<object, object>
const methodOf = (service: string): CheckMethod =>
  (loaded[service] as unknown as Record<'Check', CheckMethod>).Check
export const check = methodOf('envoy.service.auth.v3.Authorization')
export const health = methodOf('grpc.health.v1.Health')

export const encodeCheck = (request: object): Buffer => check.requestSerialize(request)
export const decodeAnswer = (bytes: Buffer): CheckAnswer =>
  check.responseDeserialize(bytes) as CheckAnswer

interface Described {
  readonly method?: string
  readonly path?: string
  readonly host?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly source?: string
}

/** A check as Envoy sends it, with fields that Postern does not read. */
export function checkOf({
  method = 'GET',
  path = '/api/v1/public/a',
  host = 'shop.example',
  headers = {},
  source = '9.9.9.9',
}: Described): object {
  return {
    attributes: {
      source: { address: { socket_address: { address: source, port_value: 40_000 } } },
      destination: { address: { socket_address: { address: '10.0.0.1', port_value: 443 } } },
      request: {
        time: { seconds: '1790000000', nanos: 5 },
        http: {
          id: '1234567890',
          method,
          headers: { ':method': method, ':path': path, ':authority': host, ...headers },
          path,
          host,
          scheme: 'https',
          size: '-1',
          protocol: 'HTTP/1.1',
        },
      },
      context_extensions: { route: 'a' },
      metadata_context: { filter_metadata: { a: { fields: { b: { number_value: 1.5 } } } } },
    },
  }
}

/** The check of a request line, such as `GET /a`, with the token of a role. */
export function checkOfLine(
  line: string,
  { as, headers = {} }: { as?: string; headers?: Readonly<Record<string, string>> } = {},
): Buffer {
  const [method = '', path = ''] = line.split(' ')
  const token = as === undefined ? {} : { authorization: `Bearer ${tokenOf(as)}` }
  return encodeCheck(checkOf({ method, path, headers: { ...token, ...headers } }))
}

/** Name and value of headers that an answer sets, as an object. */
export function headersIn(options: readonly HeaderOption[] = []): Record<string, string> {
  return Object.fromEntries(options.map(({ header }) => [header.key, header.value ?? '']))
}
