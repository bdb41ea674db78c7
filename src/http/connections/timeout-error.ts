/** A connection without a request in time, as Node's parser reports it. */
export const timeoutError: NodeJS.ErrnoException = Object.assign(
  new Error('no request within the timeout'),
  { code: 'ERR_HTTP_REQUEST_TIMEOUT' },
)
