import type { TestPostern } from './start-postern.ts'

export interface AnsweredCaptcha {
  readonly uuid: string
  readonly code: string
}

/** Fetches a captcha and reads it, as a person would. */
export async function takeCaptcha(postern: TestPostern): Promise<AnsweredCaptcha> {
  const answer = await postern.call('GET /api/v1/getCaptcha')
  const { id } = answer.json() as { id: string }
  return { uuid: id, code: postern.captchaTexts.at(-1) ?? '' }
}

/** An answer to the captcha that is certainly wrong. */
export function wrongly({ uuid, code }: AnsweredCaptcha): AnsweredCaptcha {
  return { uuid, code: code === '0000' ? '1111' : '0000' }
}
