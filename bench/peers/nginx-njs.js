// Runs inside nginx. `rules.js` is written by the benchmark: role -> method -> patterns.
import crypto from 'crypto'
import settings from 'rules.js'

function claimsOf(token) {
  const parts = token.split('.')
  if (parts.length !== 3) return undefined
  const expected = crypto
    .createHmac('sha256', settings.secret)
    .update(`${parts[0]}.${parts[1]}`)
    .digest('base64url')
  if (expected !== parts[2]) return undefined
  const header = JSON.parse(Buffer.from(parts[0], 'base64url'))
  const claims = JSON.parse(Buffer.from(parts[1], 'base64url'))
  return header.alg === 'HS256' && claims.exp > Date.now() / 1000 ? claims : undefined
}

function verdict(r) {
  const credentials = r.headersIn.Authorization || ''
  if (!credentials.startsWith('Bearer ')) return '401'
  const claims = claimsOf(credentials.slice(7))
  if (claims === undefined) return '401'
  const methods = settings.rules[claims.rolekey] || {}
  const patterns = methods[r.method] || []
  if (!patterns.some((pattern) => pattern.test(r.uri))) return '403'
  r.variables.user_id = claims.identity
  r.variables.role_key = claims.rolekey
  r.variables.data_scope = claims.datascope
  return '200'
}

export default { verdict }
