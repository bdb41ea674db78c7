import { useEffect, useRef, useState } from 'preact/hooks'
import { Field } from '../components/field.tsx'
import { language } from '../state/preferences.ts'
import { useStore } from '../state/store.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'
import type { CurrentCaptcha } from './use-captcha.ts'

interface CaptchaFieldProps {
  readonly captcha: CurrentCaptcha
  readonly value: string
  readonly onValue: (value: string) => void
}

/** The picture and what is in it. */
export function CaptchaField({ captcha, value, onValue }: CaptchaFieldProps) {
  const { login: texts } = useTexts(commonTexts)
  if (captcha.data === undefined) return null
  return (
    <div class="captcha">
      <Picture data={captcha.data} />
      <button type="button" class="quiet" onClick={captcha.renew}>
        {texts.newPicture}
      </button>
      {captcha.audio !== undefined && <Listen key={captcha.audio} address={captcha.audio} />}
      <Field
        label={texts.captcha}
        name="code"
        value={value}
        onValue={onValue}
        autocomplete="off"
        isRequired
      />
    </div>
  )
}

/** The characters as a recording, for readers who cannot see the picture. */
function Listen({ address }: { address: string }) {
  const { login: texts } = useTexts(commonTexts)
  const spoken = useStore(language)
  const [isSilent, setSilent] = useState(false)
  const player = useRef<HTMLAudioElement>(null)
  const play = () => {
    setSilent(false)
    player.current?.play().catch(() => setSilent(true))
  }
  return (
    <>
      <button type="button" class="quiet listen" onClick={play}>
        {texts.listen}
      </button>
      {/* biome-ignore lint/a11y/useMediaCaption: the text of a captcha must not be on the page */}
      <audio ref={player} src={`${address}&lang=${spoken}`} preload="none" />
      {isSilent && <p role="alert">{texts.silent}</p>}
    </>
  )
}

/** The Content-Security-Policy allows no data: pictures, so the bytes are drawn. */
function Picture({ data }: { data: string }) {
  const { login: texts } = useTexts(commonTexts)
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    let isShown = true
    const draw = (image: ImageBitmap) => {
      const element = canvas.current
      if (!isShown || element === null) return
      element.width = image.width
      element.height = image.height
      element.getContext('2d')?.drawImage(image, 0, 0)
    }
    // A picture that cannot be decoded stays empty, and the reader asks for a new one.
    createImageBitmap(new Blob([bytesOf(data)], { type: 'image/png' })).then(draw, () => {})
    return () => {
      isShown = false
    }
  }, [data])
  return <canvas ref={canvas} class="picture" role="img" aria-label={texts.picture} />
}

function bytesOf(data: string): Uint8Array<ArrayBuffer> {
  const binary = atob(data.slice(data.indexOf(',') + 1))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}
