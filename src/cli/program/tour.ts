export interface TourFacts {
  readonly address: string
  /** The editor's password while it is known, which is at the first start only. */
  readonly editorPassword: string | undefined
}

/** What a newcomer pastes next: a login, a call that is allowed, one that is refused. */
export function tour({ address, editorPassword }: TourFacts): string {
  const password = editorPassword ?? 'THE-PASSWORD'
  const forgotten =
    editorPassword === undefined
      ? `\nThe passwords were printed at the first start; a new one:  npx postern user passwd editor\n`
      : ''
  const body = `{"username":"editor","password":"${password}","uuid":"-","code":"-"}`

  return `
Postern is listening on ${address}, in mode dev. Paste into another terminal:
${forgotten}
  # log in (mode dev asks for no captcha) and keep the token
  TOKEN=$(curl -s ${address}/api/v1/login -H 'Content-Type: application/json' \\
    -d '${body}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')

  # an editor may read an order
  curl -i ${address}/api/v1/orders/7 -H "Authorization: Bearer $TOKEN"

  # but not delete it: HTTP 200 with code 401 in the body, and the service never hears of it
  curl -i -X DELETE ${address}/api/v1/orders/7 -H "Authorization: Bearer $TOKEN"

`
}
