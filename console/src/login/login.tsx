import { useEffect, useRef, useState } from 'preact/hooks'
import type { Providers } from '#client'
import { fetchLoginMethods, logIn, providerAddress } from '../access.ts'
import { asProblem, textOf } from '../api.ts'
import { Banner } from '../components/banner.tsx'
import { Field } from '../components/field.tsx'
import { Preferences } from '../frame/preferences.tsx'
import { commonTexts, useTexts } from '../texts/texts.ts'
import { CaptchaField } from './captcha.tsx'
import { FailedLogin } from './failed-login.tsx'
import { OutageBanner } from './outage-banner.tsx'
import { useCaptcha } from './use-captcha.ts'

/** The login of the console, which is the gateway's own. */
export function Login() {
  const { login: texts, product } = useTexts(commonTexts)
  const [methods, setMethods] = useState<Providers>()
  useEffect(() => {
    const controller = new AbortController()
    // The form says that the console does not answer when it is sent.
    const assumed = { password: true, captcha: false, providers: [] }
    fetchLoginMethods(controller.signal).then(setMethods, () => setMethods(assumed))
    return () => controller.abort()
  }, [])
  useEffect(() => {
    document.title = `${texts.title} – ${product}`
  }, [texts, product])
  return (
    <main class="login">
      <h1>{texts.title}</h1>
      <FailedLogin />
      <OutageBanner />
      {methods?.password && <PasswordForm hasCaptcha={methods.captcha} />}
      {methods !== undefined && methods.providers.length > 0 && <ProviderLinks methods={methods} />}
      <Preferences />
    </main>
  )
}

function PasswordForm({ hasCaptcha }: { hasCaptcha: boolean }) {
  const { login: texts } = useTexts(commonTexts)
  const [given, setGiven] = useState({ username: '', password: '', code: '', otp: '' })
  const [wantsOtp, setWantsOtp] = useState(false)
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const captcha = useCaptcha(hasCaptcha)
  const password = useRef<HTMLInputElement>(null)
  const set = (name: keyof typeof given) => (value: string) => setGiven({ ...given, [name]: value })

  const submit = async (event: Event) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem(undefined)
    try {
      const { username, code, otp } = given
      // Login wants these fields also where it asks for no captcha.
      const proof = { uuid: captcha.id ?? '-', code: code || '-' }
      await logIn({ username, password: given.password, ...proof, otp: otp || undefined })
    } catch (error) {
      const problem = asProblem(error)
      const { status } = problem
      const asksForCode = status === 428 && !wantsOtp
      if (asksForCode) setWantsOtp(true)
      else setProblem(status === 0 ? texts.unreachable : textOf(problem) || texts.failed)
      // A captcha is valid for one attempt.
      captcha.renew()
      setGiven((last) => ({ ...last, code: '', otp: '' }))
      setBusy(false)
      if (!asksForCode) password.current?.select()
    }
  }

  return (
    <form onSubmit={(event) => void submit(event)}>
      {problem !== undefined && (
        <Banner kind="error" isAnnounced>
          {problem}
        </Banner>
      )}
      <Field
        label={texts.username}
        name="username"
        value={given.username}
        onValue={set('username')}
        autocomplete="username"
        isRequired
        isFirst
      />
      <Field
        label={texts.password}
        name="password"
        type="password"
        value={given.password}
        onValue={set('password')}
        autocomplete="current-password"
        isRequired
        inputRef={password}
      />
      <CaptchaField captcha={captcha} value={given.code} onValue={set('code')} />
      {wantsOtp && (
        <Field
          label={texts.otp}
          hint={texts.otpHint}
          name="otp"
          value={given.otp}
          onValue={set('otp')}
          autocomplete="one-time-code"
          isRequired
          isFirst
        />
      )}
      <button type="submit" class="primary" disabled={isBusy}>
        {texts.submit}
      </button>
    </form>
  )
}

function ProviderLinks({ methods: { password, providers } }: { methods: Providers }) {
  const { login: texts } = useTexts(commonTexts)
  return (
    <div class="providers">
      {password && <p>{texts.or}</p>}
      {providers.map(({ name, url }) => (
        <a key={name} class="button" href={providerAddress(url)}>
          {texts.with(name)}
        </a>
      ))}
    </div>
  )
}
