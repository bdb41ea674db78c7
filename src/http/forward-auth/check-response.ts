import { bytesField, numberField } from './protobuf.ts'

/** A refusal as the client of the proxy gets it. */
interface Denial {
  readonly grpcCode: number
  readonly status: number
  readonly headers: readonly string[]
  /** UTF-8. */
  readonly body: Buffer
}

/** `envoy.service.auth.v3.CheckResponse` that allows the request: status 0, `ok_response`. */
export function allowedResponse(
  headersToSet: readonly string[],
  headersToRemove: readonly string[],
): Buffer {
  const okResponse = Buffer.concat([
    ...headerOptions(headersToSet),
    ...headersToRemove.map((name) => bytesField(5, name.toLowerCase())),
  ])
  return Buffer.concat([bytesField(1, numberField(1, 0)), bytesField(3, okResponse)])
}

/** The same that refuses it: another status, `denied_response`. */
export function deniedResponse({ grpcCode, status, headers, body }: Denial): Buffer {
  const deniedHttp = Buffer.concat([
    bytesField(1, numberField(1, status)),
    ...headerOptions(headers),
    bytesField(3, body),
  ])
  return Buffer.concat([bytesField(1, numberField(1, grpcCode)), bytesField(2, deniedHttp)])
}

const overwrite = Buffer.concat([
  // `append`: false, stated although Envoy 1.40 overwrites without it. Another state of its source uses the default of
  // `append_action` then, which is to append: a forged header would stay beside ours.
  bytesField(2, ''),
  // `append_action`: OVERWRITE_IF_EXISTS_OR_ADD.
  numberField(3, 2),
  // `keep_empty_value`
  numberField(4, 1),
])

/** `HeaderValueOption` of name, value, name, value …, each of which replaces the header of the client. */
function headerOptions(headers: readonly string[]): Buffer[] {
  const options: Buffer[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const header = [
      bytesField(1, (headers[at] as string).toLowerCase()),
      bytesField(2, headers[at + 1] as string),
    ]
    options.push(bytesField(2, Buffer.concat([bytesField(1, Buffer.concat(header)), overwrite])))
  }
  return options
}
