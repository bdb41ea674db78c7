import { encoded, field, numberField, utf8 } from './protobuf.ts'

/** A refusal as the client of the proxy gets it. */
interface Denial {
  readonly grpcCode: number
  readonly status: number
  readonly headers: readonly string[]
  /** One character for each byte of it. */
  readonly body: string
}

/** `envoy.service.auth.v3.CheckResponse` that allows the request: status 0, `ok_response`. */
export function allowedResponse(
  headersToSet: readonly string[],
  headersToRemove: readonly string[],
): Buffer {
  const removed = headersToRemove.map((name) => field(5, lowerName(name)))
  const ok = headerOptions(headersToSet) + removed.join('')
  return encoded(field(1, numberField(1, 0)) + field(3, ok))
}

/** The response that refuses the request: another status, `denied_response`. */
export function deniedResponse({ grpcCode, status, headers, body }: Denial): Buffer {
  const denied = field(1, numberField(1, status)) + headerOptions(headers) + field(3, body)
  return encoded(field(1, numberField(1, grpcCode)) + field(2, denied))
}

const overwrite =
  // `append`: false, stated although Envoy 1.40 overwrites without it. Another state of its source uses the default of
  // `append_action` then, which is to append: a forged header would stay beside ours.
  field(2, '') +
  // `append_action`: OVERWRITE_IF_EXISTS_OR_ADD.
  numberField(3, 2) +
  // `keep_empty_value`
  numberField(4, 1)

/** `HeaderValueOption` of name, value, name, value …, each of which replaces the header of the client. */
function headerOptions(headers: readonly string[]): string {
  let options = ''
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    const header = field(1, lowerName(name)) + field(2, utf8(value))
    options += field(2, field(1, header) + overwrite)
  }
  return options
}

/** Names to remove are those of a client: bytes that are not UTF-8 would make the response unreadable. */
function lowerName(name: string): string {
  return utf8(name.toLowerCase())
}
