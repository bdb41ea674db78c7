export interface TourFacts {
  readonly address: string
  /** The password of the editor, known only at the first start. */
  readonly editorPassword: string | undefined
  /** The file that has it, where it must not be printed. */
  readonly passwordFile?: string | undefined
  /** Where the console listens; `undefined` if it does not. */
  readonly consoleAddress?: string | undefined
}

/** Commands to try next: a login, an allowed call, a denied call. */
export function tour(facts: TourFacts): string {
  const { address, editorPassword, passwordFile, consoleAddress } = facts
  const password =
    passwordFile === undefined
      ? (editorPassword ?? 'THE-PASSWORD')
      : `'"$(sed -n 's/^editor //p' '${passwordFile}')"'`
  const forgotten =
    editorPassword === undefined
      ? `\nThe passwords were shown at the first start. Set a new one: npx postern user passwd editor\n`
      : ''
  const console =
    consoleAddress === undefined
      ? ''
      : `
  # who may do what, in a browser: log in as admin
  ${consoleAddress}
`
  const body = `{"username":"editor","password":"${password}","uuid":"-","code":"-"}`

  return `
Postern is listening on ${address}, in mode dev. Paste into another terminal:
${forgotten}
  # log in (mode dev does not check the captcha) and keep the token
  TOKEN=$(curl -s ${address}/api/v1/login -H 'Content-Type: application/json' \\
    -d '${body}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

  # an editor may read an order
  curl -i ${address}/api/v1/orders/7 -H "Authorization: Bearer $TOKEN"

  # but not delete it: HTTP 200 with code 401 in the body; the request never reaches the service
  curl -i -X DELETE ${address}/api/v1/orders/7 -H "Authorization: Bearer $TOKEN"
${console}
`
}
