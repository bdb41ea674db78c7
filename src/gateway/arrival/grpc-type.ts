/** gRPC, gRPC-Web and its base64 form, each with an optional message format. */
const form = /^application\/grpc(?:-web(?:-text)?)?(?:\+[a-z0-9.-]{1,32})?$/

/** The content type of a gRPC call, without parameters, or `undefined` for any other. */
export function grpcType(contentType: string | undefined): string | undefined {
  if (contentType === undefined || !/^application\/grpc/i.test(contentType)) return undefined
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return form.test(type) ? type : undefined
}

/** Whether it is a call whose messages go both ways while it lasts, which gRPC-Web cannot do. */
export function isStreamingType(contentType: string | undefined): boolean {
  return grpcType(contentType)?.startsWith('application/grpc-web') === false
}
