import { grpcType } from '../../gateway/arrival/grpc-type.ts'

/** The parts of a request that tell a gRPC call from others. */
interface Typed {
  readonly method?: string | undefined
  readonly rawHeaders: readonly string[]
}

const headerName = 'content-type'

/**
 * The content type of a gRPC call, without parameters, or `undefined` for other requests. Clients
 * expect the response in the same type, message format included.
 */
export function grpcTypeOf({ method, rawHeaders }: Typed): string | undefined {
  if (method !== 'POST') return undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue
    return grpcType(rawHeaders[at + 1])
  }
  return undefined
}
