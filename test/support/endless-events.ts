import { type PosternOptions, startPostern, type TestPostern } from './start-postern.ts'

const head =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

/** A gateway whose upstream answers with events without end, and how many of those were cut there. */
export async function startEndlessEvents(
  options: PosternOptions,
): Promise<{ readonly postern: TestPostern; readonly upstream: { readonly cut: number } }> {
  const upstream = { cut: 0 }
  const postern = await startPostern(options)
  postern.upstream.answerWith((socket) => {
    socket.write(head)
    const timer = setInterval(() => socket.write('6\r\ndata:\n\r\n'), 10)
    socket.on('close', () => {
      clearInterval(timer)
      upstream.cut++
    })
  })
  return { postern, upstream }
}
