import { describe, expect, test } from 'vitest'
import { startPostern } from '../support/start-postern.ts'
import { tokenOf } from '../support/tokens.ts'

describe('GET /api/v1/refresh_token', () => {
  test.each([
    'GET /api/v1/refresh_token',
    'POST /api/v1/refresh_token',
    'PUT /api/v1/refresh_token',
    'DELETE /api/v1/refresh_token',
    'PATCH /api/v1/refresh_token',
    'OPTIONS /api/v1/refresh_token',
    'QUERY /api/v1/refresh_token',
    'GET /api/v1/refresh_token/',
    'GET /api/v1/Refresh_Token',
    'GET /api/v1/refresh%5ftoken',
    'GET /api/v1/%72efresh_token',
    'GET /api/v1/refresh_token?x=1',
    'GET /%61pi/v1/refresh_token',
  ])('does not exist as %s, whatever the upstream offers', async (line) => {
    const postern = await startPostern({
      routes: [
        { path: '/', upstream: 'backend', access: 'public', reason: 'nothing else may refuse' },
      ],
    })

    for (const token of [tokenOf('admin'), undefined]) {
      const answer = await postern.call(line, token === undefined ? {} : { token })
      expect(answer.status).toBe(404)
    }
    expect(postern.upstream.bytes()).toBe(0)
  })

  test.each(['/api/v1//refresh_token', '/api/v1/./refresh_token', '/api/v1/refresh_token;x'])(
    'is refused as %s, like every ambiguous path',
    async (target) => {
      const postern = await startPostern()

      expect((await postern.call(`GET ${target}`, { as: 'admin' })).status).toBe(400)
      expect(postern.upstream.bytes()).toBe(0)
    },
  )
})
