import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Captcha } from '#client'
import { fetchCaptcha } from '../access.ts'

export interface CurrentCaptcha {
  /** `undefined`: the gateway asks for none, or it is not here yet. */
  readonly id: string | undefined
  readonly data: string | undefined
  readonly audio: string | undefined
  readonly renew: () => void
}

/** The captcha of the next login attempt. */
export function useCaptcha(isWanted: boolean): CurrentCaptcha {
  const [turn, setTurn] = useState(0)
  const [captcha, setCaptcha] = useState<Captcha>()
  useEffect(() => {
    if (!isWanted) return
    const controller = new AbortController()
    fetchCaptcha(controller.signal).then(setCaptcha, () => setCaptcha(undefined))
    return () => controller.abort()
  }, [turn, isWanted])
  const renew = useCallback(() => setTurn((last) => last + 1), [])
  return { id: captcha?.id, data: captcha?.data, audio: captcha?.audio, renew }
}
