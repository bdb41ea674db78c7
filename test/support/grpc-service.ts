import { Buffer } from 'node:buffer'
import {
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  Server,
  ServerCredentials,
  type ServiceDefinition,
  type ServiceError,
  type StatusObject,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { onTestFinished } from 'vitest'

/** Messages are bytes: what a gateway must not touch. */
function method(path: string, requestStream: boolean, responseStream: boolean) {
  const same = (bytes: Buffer) => bytes
  return {
    path,
    requestStream,
    responseStream,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
}

const definition = {
  unary: method('/test.Echo/Unary', false, false),
  download: method('/test.Echo/Download', false, true),
  upload: method('/test.Echo/Upload', true, false),
  chat: method('/test.Echo/Chat', true, true),
  hang: method('/test.Echo/Hang', false, true),
} satisfies ServiceDefinition

/** What the service has seen of its calls. */
export interface EchoService {
  readonly port: number
  readonly metadata: Metadata[]
  readonly cancelled: string[]
}

type Back = (
  error: ServiceError | Partial<ServiceError> | null,
  value?: Buffer,
  trailers?: Metadata,
) => void

/** Each with its own name as its value. */
function trailersOf(metadata: Metadata): Metadata {
  const trailers = new Metadata()
  const names = metadata.get('trail-with').join()
  for (const name of names.split(' ')) if (name !== '') trailers.set(name, name)
  return trailers
}

/**
 * A gRPC service: `unary` sends its message back, with the trailing metadata that `trail-with` names, or fails
 * if the metadata `fail-with` says so;
 * `download` sends the message as often as its first four bytes say; `upload` answers how many bytes it
 * got; `chat` answers each message at once; `hang` sends one message and then nothing.
 */
export async function startEchoService(): Promise<EchoService> {
  const metadata: Metadata[] = []
  const cancelled: string[] = []
  const server = new Server({
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  })
  server.addService(definition, {
    unary(call: { request: Buffer; metadata: Metadata }, back: Back) {
      metadata.push(call.metadata)
      const [code] = call.metadata.get('fail-with')
      if (code !== undefined) back({ code: Number(code), details: 'as you wish: ü%' })
      else back(null, call.request, trailersOf(call.metadata))
    },
    download(call: {
      request: Buffer
      write(bytes: Buffer): boolean
      end(): void
      once(event: string, listener: () => void): void
      on(event: string, listener: () => void): void
    }) {
      let left = call.request.readUInt32BE(0)
      call.on('cancelled', () => cancelled.push('download'))
      const more = () => {
        while (left-- > 0) if (!call.write(call.request)) return void call.once('drain', more)
        call.end()
      }
      more()
    },
    upload(call: { on(event: string, listener: (chunk: Buffer) => void): void }, back: Back) {
      let bytes = 0
      call.on('data', (chunk) => {
        bytes += chunk.length
      })
      call.on('cancelled', () => cancelled.push('upload'))
      call.on('end', () => back(null, Buffer.from(String(bytes))))
    },
    chat(call: {
      on(event: string, listener: (chunk: Buffer) => void): void
      write(chunk: Buffer): void
      end(): void
    }) {
      call.on('cancelled', () => cancelled.push('chat'))
      call.on('data', (chunk) => call.write(chunk))
      call.on('end', () => call.end())
    },
    hang(call: {
      request: Buffer
      write(chunk: Buffer): void
      on(event: string, listener: () => void): void
    }) {
      call.on('cancelled', () => cancelled.push('hang'))
      call.write(call.request)
    },
  } as unknown as UntypedServiceImplementation)
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    )
  })
  onTestFinished(() => server.forceShutdown())
  return { port, metadata, cancelled }
}

/** The calls of `EchoService`. */
export interface EchoClient {
  unary(
    message: Buffer,
    metadata: Metadata,
    options: object,
    back: (error: ServiceError | null, value?: Buffer) => void,
  ): ClientUnaryCall
  download(message: Buffer, metadata: Metadata, options?: object): ClientReadableStream<Buffer>
  upload(
    metadata: Metadata,
    back: (error: ServiceError | null, value?: Buffer) => void,
  ): ClientWritableStream<Buffer>
  chat(metadata: Metadata, options?: object): ClientDuplexStream<Buffer, Buffer>
  hang(message: Buffer, metadata: Metadata, options?: object): ClientReadableStream<Buffer>
}

export function connectEcho(port: number): EchoClient {
  const Client = makeGenericClientConstructor(definition, 'Echo')
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  })
  onTestFinished(() => client.close())
  return client as unknown as EchoClient
}

/** The result of a unary call. */
export function unary(
  client: EchoClient,
  message: Buffer,
  metadata: Metadata,
  options: object = {},
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    client.unary(message, metadata, options, (error, value) =>
      error === null ? resolve(value ?? Buffer.alloc(0)) : reject(error),
    )
  })
}

/** The code of the error that a stream ends with; 0 without one. */
export function endOf(stream: {
  on(event: 'status', listener: (status: StatusObject) => void): unknown
  on(event: 'error', listener: () => void): unknown
}): Promise<StatusObject> {
  return new Promise((resolve) => {
    stream.on('error', () => {})
    stream.on('status', resolve)
  })
}

export { status }
