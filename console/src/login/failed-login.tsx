import { useEffect, useState } from 'preact/hooks'
import { Banner } from '../components/banner.tsx'
import { loginReason } from '../lib/login-reason.ts'
import { commonTexts, useTexts } from '../texts/texts.ts'

/** Why an identity provider sent its user back without a login, or without a confirmation. */
export function FailedLogin() {
  const { login: texts } = useTexts(commonTexts)
  const [search] = useState(location.search)
  useEffect(() => {
    // Else it would be there again after the next login and logout.
    if (search !== '') history.replaceState(null, '', `${location.pathname}${location.hash}`)
  }, [search])
  const reason = loginReason(search, texts)
  if (reason === undefined) return null
  return (
    <Banner kind="error" isAnnounced>
      {reason}
    </Banner>
  )
}
