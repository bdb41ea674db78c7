import { onTestFinished } from 'vitest'
import { poolFor } from '../../src/wire/h2/pool-for.ts'
import type { Pool, PoolSettings } from '../../src/wire/pool.ts'
import type { Upload, UploadSink } from '../../src/wire/request-head.ts'
import type { FrameRequest } from './frame-server.ts'

const http2 = { streams: 100, pingMs: 0, maxAgeMs: 0 }

/** Over `h2c`, without limits of time. Closed with its test. */
export function startH2Pool(origin: string, settings: Partial<PoolSettings> = {}): Pool {
  const pool = poolFor(origin, undefined, {
    connections: 100,
    connectTimeoutMs: 30_000,
    headersTimeoutMs: 30_000,
    bodyTimeoutMs: 30_000,
    protocol: 'h2c',
    http2,
    ...settings,
  })
  onTestFinished(pool.destroy)
  return pool
}

/** Answers with the path. */
export const answerPath = ({ connection, id, fields }: FrameRequest) => {
  connection.headers(id, [':status', '200'])
  connection.data(id, fields[':path'] ?? '', true)
}

/** An upload of which the test writes the chunks. */
export function handMadeUpload(length?: number) {
  let sink: UploadSink | undefined
  const events: string[] = []
  const starts: UploadSink[] = []
  const rewound: string[] = []
  const given: Upload = {
    length,
    start(to) {
      sink = to
      starts.push(to)
    },
    rewind(chunks) {
      rewound.push(Buffer.concat(chunks).toString('latin1'))
    },
    resume: () => events.push('resume'),
    stop: () => events.push('stop'),
  }
  return {
    given,
    events,
    starts,
    rewound,
    data: (text: string) => sink?.data(Buffer.from(text, 'latin1')) ?? true,
    end: () => sink?.end(),
    fail: (error: Error) => sink?.fail(error),
  }
}
