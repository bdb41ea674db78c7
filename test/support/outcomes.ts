import { expect } from 'vitest'
import type { RawAnswer } from './raw-client.ts'
import type { RecordingUpstream } from './recording-upstream.ts'

/** UNAUTH of the catalogue: HTTP 200, exactly `code` 401 and a text, nothing at the upstream. */
export function expectUnauthenticated(answer: RawAnswer, upstream: RecordingUpstream): void {
  expect(answer.status).toBe(200)
  expect(answer.json()).toEqual({ code: 401, msg: expect.stringMatching(/.+/) })
  expect(upstream.bytes()).toBe(0)
}

/** REJECT of the catalogue: this status, our JSON, nothing at the upstream. */
export function expectRejected(
  answer: RawAnswer,
  status: number,
  upstream: RecordingUpstream,
): void {
  expect(answer.status).toBe(status)
  expect(answer.json()).toMatchObject({ code: status })
  expect(upstream.bytes()).toBe(0)
}
