import { loadSync, type MethodDefinition } from '@grpc/proto-loader'

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

const loaded = loadSync(
  ['test/support/protocols/ext-authz.proto', 'test/support/protocols/health.proto'],
  { keepCase: true, defaults: false, longs: String },
)

/** The methods as clients of gRPC take them. */
export const services = loaded

const check = (
  loaded['envoy.service.auth.v3.Authorization'] as unknown as Record<
    'Check',
    MethodDefinition<object, object>
  >
).Check

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
