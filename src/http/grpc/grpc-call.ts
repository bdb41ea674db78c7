/** The parts of a request that tell a gRPC call from others. */
interface Typed {
  readonly method?: string | undefined
  readonly rawHeaders: readonly string[]
}

const headerName = 'content-type'
/** gRPC, gRPC-Web and its base64 form, each with an optional message format. */
const grpcType = /^application\/grpc(?:-web(?:-text)?)?(?:\+[a-z0-9.-]{1,32})?$/

/**
 * The content type of a gRPC call, without parameters, or `undefined` for other requests. Clients
 * expect the response in the same type, message format included.
 */
export function grpcTypeOf({ method, rawHeaders }: Typed): string | undefined {
  if (method !== 'POST') return undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length !== headerName.length || name.toLowerCase() !== headerName) continue
    const type = (rawHeaders[at + 1] as string).split(';', 1)[0]?.trim().toLowerCase() ?? ''
    return grpcType.test(type) ? type : undefined
  }
  return undefined
}
