import { encode, type Message } from './protobuf.ts'

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
  return encode([
    [1, [[1, 0]]],
    [3, [...headerOptions(headersToSet), ...headersToRemove.map(removed)]],
  ])
}

/** The same that refuses it: another status, `denied_response`. */
export function deniedResponse({ grpcCode, status, headers, body }: Denial): Buffer {
  return encode([
    [1, [[1, grpcCode]]],
    [2, [[1, [[1, status]]], ...headerOptions(headers), [3, body]]],
  ])
}

function removed(name: string): Message[number] {
  return [5, name.toLowerCase()]
}

const overwrite: Message = [
  // `append`: false, stated although Envoy 1.40 overwrites without it. Another state of its source uses the default of
  // `append_action` then, which is to append: a forged header would stay beside ours.
  [2, ''],
  // `append_action`: OVERWRITE_IF_EXISTS_OR_ADD.
  [3, 2],
  // `keep_empty_value`
  [4, 1],
]

/** `HeaderValueOption` of name, value, name, value …, each of which replaces the header of the client. */
function headerOptions(headers: readonly string[]): Message[number][] {
  const options: Message[number][] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2)
    const header: Message = [
      [1, name.toLowerCase()],
      [2, value],
    ]
    options.push([2, [[1, header], ...overwrite]])
  }
  return options
}
