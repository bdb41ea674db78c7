import { nameProblem } from '../../stores/accounts/account-name.ts'
import { passwordProblem } from '../accounts/new-password.ts'

export { adminKey } from '../../stores/accounts/last-admin.ts'

/** Why a value cannot be used, if so: a person at a terminal hears it before the other questions. */
export const problems = {
  upstream(text: string): string | undefined {
    const url = URL.parse(text)
    const isPlain =
      url !== null &&
      /^https?:$/.test(url.protocol) &&
      [text, `${text}/`].includes(`${url.origin}/`) &&
      url.hostname !== ''
    return isPlain
      ? undefined
      : `${JSON.stringify(text)} is not the address of a service: write scheme, host and port, such as http://127.0.0.1:3000`
  },
  user: nameProblem,
  password: passwordProblem,
}
